"""Sub-problems solved one after the other: sums, maxima and draws on compiled trees."""

import numpy as np

from jensen.kernels import kernel, part
from jensen.kernels.messages import (
    choose_entry,
    collect,
    count,
    read_message,
    read_table,
    settle,
    take_down,
    write_states,
)
from jensen.kernels.records import PROBLEMS, PROGRAM, WORK, signature
from jensen.support.tree_records import CLUSTERS, MESSAGE, N_CLUSTERS, N_MEMBERS, N_SENT


@part
def send_back(code, head, weight, back):
    """Return the last cluster of the tree at head, to which alone the weight has come back."""
    for a in range(code[head + N_SENT]):
        back[a] = 0.0
    last = code[head + N_CLUSTERS] - 1
    back[code[head + code[head + CLUSTERS + last] + MESSAGE]] = weight
    return last


@kernel(
    signature(
        PROGRAM,
        PROBLEMS,
        "float64[::1], float64[::1]",
        WORK,
        "float64[::1], float64[::1], int64[::1], float64[::1]",
    )
)
def expect(program, problems, tables, log_tables, work, log_z, counts, out_ptr, out):
    """Fill log Z of every problem, and add its expectations by weight.

    They are counts of the configurations of its families, and of the states of its members at
    out[out_ptr[k]:]; of counts and out, what is empty is left alone.
    """
    code, start = program
    set_of, base_ptr, bases, weight = problems
    psi, message, back, _ = work
    is_max = set_of.shape[0] < 0  # False, but no literal: collect would be compiled for it anew
    for k in range(set_of.shape[0]):
        head, b0 = start[set_of[k]], base_ptr[k]
        log_z[k] = collect(code, head, bases, b0, tables, log_tables, is_max, psi, message)
        if log_z[k] == -np.inf:
            continue
        for c in range(send_back(code, head, weight[k], back), -1, -1):
            q = head + code[head + CLUSTERS + c]
            if out.shape[0] > 0:
                read_message(code, q, back, out, out_ptr[k])
            take_down(code, q, psi, message, back)
            if counts.shape[0] > 0:
                count(code, q, bases, b0, psi, counts)
            if out.shape[0] > 0:
                read_table(code, q, psi, out, out_ptr[k])


@kernel(
    signature(
        PROGRAM,
        PROBLEMS,
        "float64[::1], float64[::1], int64[::1], float64[::1]",
        WORK,
        "float64[::1], float64[::1], int64[::1], int32[::1]",
    )
)
def choose(
    program, problems, tables, log_tables, times, uniforms, work, value, counts, state_ptr, states
):
    """Choose times[k] configurations of every problem: draws, or without uniforms the best one.

    Each counts weight / times. Fill value with the mean log potential of the choices and, if
    state_ptr is not empty, states[state_ptr[k]:] with the states of the members, choice by choice.
    """
    code, start = program
    set_of, base_ptr, bases, weight = problems
    psi, message, _, chosen = work
    is_max, u = uniforms.shape[0] == 0, 0
    for k in range(set_of.shape[0]):
        head, b0 = start[set_of[k]], base_ptr[k]
        value[k] = collect(code, head, bases, b0, tables, log_tables, is_max, psi, message)
        if value[k] == -np.inf:
            continue
        total, last = 0.0, code[head + N_CLUSTERS] - 1
        for d in range(times[k]):
            for c in range(last, -1, -1):
                q = head + code[head + CLUSTERS + c]
                a = 0 if c == last else chosen[code[q + MESSAGE]]
                i = choose_entry(code, q, a, -1.0 if is_max else uniforms[u], psi)
                u = u if is_max else u + 1
                amount = weight[k] / times[k]
                total += settle(code, q, i, bases, b0, log_tables, amount, chosen, counts)
                if state_ptr.shape[0] > 0:
                    write_states(code, q, i, states, state_ptr[k] + d * code[head + N_MEMBERS])
        value[k] = total / times[k]
