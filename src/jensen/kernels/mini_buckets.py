"""Weighted mini-buckets: messages forward, and the slope of the bound backward."""

import numpy as np

from jensen.kernels import bare, kernel
from jensen.kernels.records import BUCKET_PLAN, signature
from jensen.support.factor_records import FROM_FACTOR, FROM_MESSAGE, FROM_SHIFT


@bare
def add_source(plan, b, k, source, at, table):
    """Add what source k of mini-bucket b says, from source[at] on, to all entries of its table."""
    first, last = plan.axis_at[b], plan.axis_at[b + 1] - 1
    card, step, step_at = plan.card[b], plan.step[plan.step_at[k] + last - first], plan.step_at[k]
    digit = plan.digit
    for a in range(first, last):
        digit[a] = 0
    for entry in range(plan.table_at[b], plan.table_at[b + 1], card):
        for x in range(card):
            table[entry + x] += source[at + x * step]
        a = last - 1
        while a >= first:
            digit[a] += 1
            at += plan.step[step_at + a - first]
            if digit[a] < plan.axis_card[a]:
                break
            at -= plan.step[step_at + a - first] * plan.axis_card[a]
            digit[a] = 0
            a -= 1


@bare
def add_back(plan, b, k, table, target, at):
    """Add all entries of the table of mini-bucket b to what source k says, from target[at] on."""
    first, last = plan.axis_at[b], plan.axis_at[b + 1] - 1
    card, step, step_at = plan.card[b], plan.step[plan.step_at[k] + last - first], plan.step_at[k]
    digit = plan.digit
    for a in range(first, last):
        digit[a] = 0
    for entry in range(plan.table_at[b], plan.table_at[b + 1], card):
        for x in range(card):
            target[at + x * step] += table[entry + x]
        a = last - 1
        while a >= first:
            digit[a] += 1
            at += plan.step[step_at + a - first]
            if digit[a] < plan.axis_card[a]:
                break
            at -= plan.step[step_at + a - first] * plan.axis_card[a]
            digit[a] = 0
            a -= 1


@kernel(
    signature(BUCKET_PLAN, "float64[::1], float64[::1], float64[::1], float64[::1], float64[::1]")
)
def send_forward(plan, log_tables, shift, weight, table, message):
    """Fill the table and the message of every mini-bucket; return the sum of the last messages.

    A message is weight · log Σ_x exp(table / weight).
    """
    total = 0.0
    for b in range(plan.card.shape[0]):
        card, w = plan.card[b], weight[b]
        for entry in range(plan.table_at[b], plan.table_at[b + 1], card):
            for x in range(card):
                table[entry + x] = 0.0
        for k in range(plan.source_at[b], plan.source_at[b + 1]):
            if plan.origin[k] == FROM_FACTOR:
                add_source(plan, b, k, log_tables, plan.source[k], table)
            elif plan.origin[k] == FROM_MESSAGE:
                add_source(plan, b, k, message, plan.source[k], table)
            else:
                add_source(plan, b, k, shift, plan.source[k], table)
        to = plan.message_at[b]
        for entry in range(plan.table_at[b], plan.table_at[b + 1], card):
            top, some = -np.inf, 0.0
            for x in range(card):
                top = max(top, table[entry + x] / w)
            if np.isinf(top):
                message[to] = w * top
            else:
                for x in range(card):
                    some += np.exp(table[entry + x] / w - top)
                message[to] = w * (top + np.log(some))
            to += 1
        if plan.axis_at[b + 1] - plan.axis_at[b] == 1:
            total += message[to - 1]
    return total


@kernel(
    signature(
        BUCKET_PLAN,
        "float64[::1], float64[::1], float64[::1], float64[::1], float64[::1], float64[::1]",
    )
)
def send_back(plan, weight, table, message, share, shift_slope, weight_slope):
    """Fill the slope of the bound in shifts and weights; the shares of a table sum to one.

    Tables become these shares. The slope in a message is the sum of the shares of the entries that
    read it; `share` and `shift_slope` start at 0.
    """
    for b in range(plan.card.shape[0] - 1, -1, -1):
        card, w = plan.card[b], weight[b]
        if plan.axis_at[b + 1] - plan.axis_at[b] == 1:
            share[plan.message_at[b]] = 1.0
        weight_slope[b] = 0.0
        to = plan.message_at[b]
        for entry in range(plan.table_at[b], plan.table_at[b + 1], card):
            own, level = share[to], message[to]
            for x in range(card):
                part = 0.0
                if own != 0.0 and not np.isinf(level):
                    log_part = (table[entry + x] - level) / w
                    part = np.exp(log_part)
                    if part > 0.0:
                        weight_slope[b] -= own * part * log_part
                table[entry + x] = own * part
            to += 1
        for k in range(plan.source_at[b], plan.source_at[b + 1]):
            if plan.origin[k] == FROM_MESSAGE:
                add_back(plan, b, k, table, share, plan.source[k])
            elif plan.origin[k] == FROM_SHIFT:
                add_back(plan, b, k, table, shift_slope, plan.source[k])
