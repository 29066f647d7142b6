"""Sets of hidden variables compiled to trees of clusters; `Program` says what is written.

Of a set of k members, cluster i is what step i of the elimination makes. Its members stand at
``digits[i * k:]`` in the order of elimination, so that the ones that end in it come first. What
else is known of cluster i, and of member i, stands at ``board[i * BOARD:]``. All is flat, and
allocated by the caller (`Desk`): squares and allocations take long to compile.
"""

from jensen.kernels import helper, kernel, part
from jensen.kernels.elimination import connect_members
from jensen.kernels.records import DESK, WIRING, signature
from jensen.support.tree_records import (
    BOARD,
    CARD,
    CHILDREN,
    CLUSTERS,
    CONSTANT,
    CONTIGUOUS,
    ELSEWHERE,
    ENDS,
    ENTRIES,
    FAMILIES,
    GATHER,
    INDEX,
    INNER,
    KIND,
    MEMBER,
    MESSAGE,
    N_CLUSTERS,
    N_DIGITS,
    N_ENDS,
    N_ENTRIES,
    N_MEMBERS,
    N_SENT,
    N_STATES,
    OUTER,
    PARENT,
    PLACE,
    PSI,
    RUN,
    SEEN,
    SEEN_IN,
    SENT_AT,
    SEPARATOR,
    SIZE,
    SLOT,
    SLOTS,
    SOURCE,
    STATES,
    STEP,
    STRIDE,
    TILE,
    WIDTH,
)

ROOT, MERGED = -1, -2
"""What stands for the parent of a cluster without one, and of one that is no more."""

SMALL_TILE, LARGEST_TILE = 16, 2048

SHORTEST_RUN = 4
"""Runs of fewer entries, unless they are the whole tile, cost more than they save."""

NO_ROOM = -1


@part
def make_clique(k, adjacent, order, begin, i, digits, board):
    """Make the clique of step i: what is eliminated then and its neighbours, which it connects."""
    v, at, row = order[begin + i], i * BOARD, i * k
    n = row
    board[at + PARENT] = ROOT
    for r in range(i, k):
        u = order[begin + r]
        if r == i or adjacent[v * k + u]:
            digits[n] = u
            n += 1
            if n == row + 2:
                board[at + PARENT] = r
    for a in range(row + 1, n):
        for b in range(row + 1, a):
            adjacent[digits[a] * k + digits[b]] = True
            adjacent[digits[b] * k + digits[a]] = True
    board[at + N_DIGITS] = n - row
    board[at + N_ENDS] = 1


@part
def merge_child(k, i, digits, board):
    """Merge clique i with the first child that holds all of it, in the place of the parent."""
    at = i * BOARD
    for c in range(i):
        child = c * BOARD
        n = board[child + N_DIGITS]
        if board[child + PARENT] != i or n - board[child + N_ENDS] != board[at + N_DIGITS]:
            continue
        for j in range(n):
            digits[i * k + j] = digits[c * k + j]
        board[at + N_DIGITS] = n
        board[at + N_ENDS] += board[child + N_ENDS]
        board[child + PARENT] = MERGED
        for b in range(0, child, BOARD):
            if board[b + PARENT] == c:
                board[b + PARENT] = i
        break


@helper
def make_clusters(k, adjacent, order, begin, digits, board):
    """Fill digits, parents and sizes of all clusters."""
    for i in range(k):
        make_clique(k, adjacent, order, begin, i, digits, board)
        merge_child(k, i, digits, board)
        at, size = i * BOARD, 1
        for j in range(board[at + N_DIGITS] - 1, -1, -1):
            if j == board[at + N_ENDS] - 1:
                board[at + SEPARATOR] = size
            size *= board[digits[i * k + j] * BOARD + STATES]
        board[at + ENTRIES] = size


@helper
def find_messages(k, digits, board):
    """Fill for every member which cluster sends the smallest message that holds it."""
    for u in range(k):
        board[u * BOARD + SEEN_IN] = ELSEWHERE
    for i in range(k):
        at = i * BOARD
        if board[at + PARENT] == MERGED:
            continue
        for j in range(board[at + N_ENDS], board[at + N_DIGITS]):
            u = digits[i * k + j] * BOARD + SEEN_IN
            best = board[u]
            if best < 0 or board[at + SEPARATOR] < board[best * BOARD + SEPARATOR]:
                board[u] = i


@helper
def find_home(k, digits, board, members, begin, end, local):
    """Return the smallest cluster that holds all hidden ones of members[begin:end]."""
    best, size = -1, 0
    for i in range(k):
        at = i * BOARD
        if board[at + PARENT] == MERGED or (best >= 0 and board[at + ENTRIES] >= size):
            continue
        fits = True
        for e in range(begin, end):
            u, j, last = local[members[e]], i * k, i * k + board[at + N_DIGITS]
            while u >= 0 and j < last and digits[j] != u:
                j += 1
            fits = fits and j < last
        if fits:
            best, size = i, board[at + ENTRIES]
    return best


@helper
def write_offsets(digits, begin, end, board, code, at):
    """Write where the configurations of digits[begin:end] stand; return the end of that."""
    n = 1
    code[at] = 0
    for j in range(end - 1, begin - 1, -1):
        u = digits[j] * BOARD
        for state in range(1, board[u + STATES]):
            for e in range(at, at + n):
                code[e + state * n] = code[e] + state * board[u + STEP]
        n *= board[u + STATES]
    return at + n


@part
def write_run(digits, begin, end, board, tile, code, r):
    """Write what the fast end of a tile, digits[begin:end], does in the slot at r."""
    run, step = 1, 0
    for j in range(end - 1, begin - 1, -1):
        u = digits[j] * BOARD
        if run == 1:
            step = board[u + STEP]
        if board[u + STATES] > 1 and board[u + STEP] != step * run:
            break
        run *= board[u + STATES]
    code[r + RUN], code[r + KIND] = run, GATHER
    if step <= 1 and (run >= SHORTEST_RUN or run == tile):
        code[r + KIND] = CONTIGUOUS if step == 1 else CONSTANT


@helper
def write_slot(k, i, inner, digits, board, code, q, r, at):
    """Write how the slot at r of cluster i walks, its offsets to code[at:]; return their end."""
    begin, end = i * k, i * k + board[i * BOARD + N_DIGITS]
    write_run(digits, begin + inner, end, board, code[q + TILE], code, r)
    code[r + INNER] = at - q
    at = write_offsets(digits, begin + inner, end, board, code, at)
    code[r + OUTER] = at - q
    at = write_offsets(digits, begin, begin + inner, board, code, at)
    for j in range(begin, end):  # so that the next slot finds no steps
        board[digits[j] * BOARD + STEP] = 0
    return at


@part
def family_steps(wiring, f, local, board):
    """Fill the steps of the members in the table of family f."""
    for e in range(wiring.fam_ptr[f], wiring.fam_ptr[f + 1]):
        u = local[wiring.fam_vars[e]]
        if u >= 0:
            board[u * BOARD + STEP] = wiring.fam_stride[e]


@part
def message_steps(k, child, digits, board):
    """Fill the steps of the members in the message of a child."""
    step, at = 1, child * BOARD
    for j in range(board[at + N_DIGITS] - 1, board[at + N_ENDS] - 1, -1):
        u = digits[child * k + j] * BOARD
        board[u + STEP] = step
        step *= board[u + STATES]


@part
def write_members(k, i, digits, board, code, r):
    """Write the members that end in cluster i, or are seen in its message, to code[r:]."""
    stride, n_ends = board[i * BOARD + ENTRIES], board[i * BOARD + N_ENDS]
    for j in range(board[i * BOARD + N_DIGITS]):
        u = digits[i * k + j]
        card, seen_in = board[u * BOARD + STATES], board[u * BOARD + SEEN_IN]
        stride //= card
        if j >= n_ends and seen_in != i:
            continue
        place = 0
        for a in range(0, u * BOARD, BOARD):
            place += board[a + STATES]
        if j < n_ends and seen_in != ELSEWHERE:
            place = ELSEWHERE
        code[r + INDEX] = u
        code[r + STRIDE] = stride
        code[r + CARD] = card
        code[r + PLACE] = place
        r += MEMBER


@helper
def write_cluster(k, i, home, n_fams, digits, board, code, q):
    """Write cluster i at q, but for its slots; return its first digit within tiles, or NO_ROOM."""
    at, n_families, n_children, n_seen = i * BOARD, 0, 0, 0
    for j in range(n_fams):
        n_families += home[j] == i
    for a in range(0, k * BOARD, BOARD):
        n_children += a < at and board[a + PARENT] == i
        n_seen += board[a + SEEN_IN] == i
    size, inner, tile = board[at + ENTRIES], board[at + N_DIGITS], 1
    while inner > 0:
        wider = tile * board[digits[i * k + inner - 1] * BOARD + STATES]
        if tile > 1 and wider > SMALL_TILE and (wider > LARGEST_TILE or wider * wider > 4 * size):
            break
        inner -= 1
        tile = wider
    n_slots = n_families + n_children
    members = q + SLOTS + SLOT * n_slots
    end = members + MEMBER * (board[at + N_ENDS] + n_seen)
    if end + n_slots * (tile + size // tile) > code.shape[0]:
        return NO_ROOM
    code[q + SIZE] = size
    code[q + TILE] = tile
    code[q + WIDTH] = board[at + SEPARATOR]
    code[q + FAMILIES] = n_families
    code[q + CHILDREN] = n_children
    code[q + ENDS] = board[at + N_ENDS]
    code[q + SEEN] = n_seen
    write_members(k, i, digits, board, code, members)
    return inner


@part
def write_slots(k, i, inner, wiring, fams, first, n_fams, desk, code, q):
    """Write the slots of cluster i, which stands at q; return their end."""
    _, digits, board, home, local = desk
    r = q + SLOTS
    at = r + SLOT * (code[q + FAMILIES] + code[q + CHILDREN])
    at += MEMBER * (code[q + ENDS] + code[q + SEEN])
    for j in range(n_fams + i):
        child = j - n_fams
        if (home[j] if child < 0 else board[child * BOARD + PARENT]) != i:
            continue
        if child < 0:
            code[r + SOURCE] = j
            family_steps(wiring, fams[first + j], local, board)
        else:
            code[r + SOURCE] = board[child * BOARD + SENT_AT]
            message_steps(k, child, digits, board)
        at = write_slot(k, i, inner, digits, board, code, q, r, at)
        r += SLOT
    return at


@part
def write_head(k, board, n_clusters, entries, sent, code, head):
    """Write the head of a program."""
    code[head + N_CLUSTERS] = n_clusters
    code[head + N_MEMBERS] = k
    code[head + N_ENTRIES] = entries
    code[head + N_SENT] = sent
    code[head + N_STATES] = 0
    for u in range(0, k * BOARD, BOARD):
        code[head + N_STATES] += board[u + STATES]


@part
def write_tree(k, wiring, fams, first, n_fams, desk, code, head):
    """Write the program of a set at code[head:]; return its end, or NO_ROOM."""
    board = desk.board
    c, entries, sent = head + CLUSTERS, 0, 0
    q = c
    for i in range(0, k * BOARD, BOARD):
        q += board[i + PARENT] != MERGED
    for i in range(k):
        if board[i * BOARD + PARENT] == MERGED or q == NO_ROOM:
            continue
        inner = write_cluster(k, i, desk.home, n_fams, desk.digits, board, code, q)
        if inner == NO_ROOM:
            q = NO_ROOM
            continue
        code[c] = q - head
        code[q + PSI] = entries
        code[q + MESSAGE] = board[i * BOARD + SENT_AT] = sent
        c += 1
        entries += board[i * BOARD + ENTRIES]
        sent += board[i * BOARD + SEPARATOR]
        q = write_slots(k, i, inner, wiring, fams, first, n_fams, desk, code, q)
    if q != NO_ROOM:
        write_head(k, board, c - head - CLUSTERS, entries, sent, code, head)
    return q


@kernel(
    signature(
        "int64[::1], int32[::1], int64[::1], boolean[::1]",
        WIRING,
        "int64[::1], int64[::1]",
        DESK,
        "int64, int64[::1], int64[::1]",
    )
)
def write_programs(
    set_ptr, set_vars, orders, whole, wiring, fam_end, fams, desk, first_set, start, code
):
    """Write the programs of sets first_set, ... while there is room; return the first not written.

    Set p stands at code[start[p]:start[p + 1]]; start[first_set] is given. whole says which sets
    are one cluster.
    """
    cards, fam_ptr, fam_vars = wiring.cards, wiring.fam_ptr, wiring.fam_vars
    adjacent, digits, board, home, local = desk
    for p in range(first_set, fam_end.shape[0]):
        begin, k = set_ptr[p], set_ptr[p + 1] - set_ptr[p]
        first, last = fam_end[p - 1] if p > 0 else 0, fam_end[p]
        for a in range(k):
            local[set_vars[begin + a]] = a
            board[a * BOARD + STATES] = cards[set_vars[begin + a]]
            board[a * BOARD + STEP] = 0
        for e in range(k * k):
            adjacent[e] = whole[p]
        connect_members(fam_ptr, fam_vars, fams, first, last, local, k, adjacent)
        make_clusters(k, adjacent, orders, begin, digits, board)
        find_messages(k, digits, board)
        for j in range(first, last):
            a, b = fam_ptr[fams[j]], fam_ptr[fams[j] + 1]
            home[j - first] = find_home(k, digits, board, fam_vars, a, b, local)
        start[p + 1] = write_tree(k, wiring, fams, first, last - first, desk, code, start[p])
        for a in range(k):
            local[set_vars[begin + a]] = -1
        if start[p + 1] == NO_ROOM:
            return p
    return fam_end.shape[0]
