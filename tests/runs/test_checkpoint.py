"""A run that is killed at any moment resumes to the same bits, and from its own file only."""

import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import jensen as jn
from jensen.runs import checkpoint
from jensen.runs.checkpoint import Checkpoint
from jensen.runs.sample_file import LostSamplesError, SampleFile
from jensen.support.arguments import generator_state, restore_generator
from jensen.support.fingerprint import fingerprint

NAN_WITH_PAYLOAD = np.array([0x7FF80000DEADBEEF], dtype=np.uint64).view(np.float64)
ARRAYS = {
    "floats": np.array([[-np.inf, np.nan, -0.0], [5e-324, 1 / 3, np.inf]]),
    "payload": NAN_WITH_PAYLOAD,
    "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "strided": np.arange(20)[::3],
    "scalar": np.array(7, dtype=np.int8),
    "empty": np.empty((0, 3)),
    "bits": np.array([True, False]),
    "words": np.array(["ß", "node/2\n"]),
    "file": np.array([2**63], dtype=np.uint64),
    "../up": np.array([1 + 2j]),
}
NOTES = {"sweep": 3, "F": [-np.inf, 0.1 + 0.2], "seed": 2**127 + 1, "name": "ä\ud800", "none": None}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.checkpoint"


@pytest.fixture
def saved(path):
    """A small checkpoint of the run "mine"."""
    Checkpoint(path, "mine").save({"a": 1}, {"x": np.arange(20.0)})
    return path


def refusal(path):
    with pytest.raises(jn.FileError) as error:
        Checkpoint(path, "mine")
    return str(error.value)


def forge(path, body, version=2):
    """A file with the right digest for whatever it holds."""
    digest = hashlib.sha256(body).hexdigest().encode()
    path.write_bytes(b"jensen checkpoint %d\n" % version + digest + b"\n" + body)


def test_a_new_run_finds_nothing(path):
    assert Checkpoint(path, "mine").content is None
    assert not path.exists()


def test_the_content_comes_back_bit_by_bit(path):
    Checkpoint(path, "mine").save(NOTES, ARRAYS)
    notes, arrays = Checkpoint(path, "mine").content
    assert notes == NOTES
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        assert arrays[name].tobytes() == array.tobytes()
        assert arrays[name].flags.writeable


def test_the_last_save_counts(path):
    mine = Checkpoint(path, "mine")
    for k in range(3):
        mine.save(k, {})
    assert Checkpoint(path, "mine").content == (2, {})
    assert mine.content is None
    assert os.listdir(path.parent) == [path.name]


def test_a_file_cut_anywhere_is_refused_in_words(saved):
    whole = saved.read_bytes()
    for n in [*range(0, len(whole), 10), len(whole) - 1]:
        saved.write_bytes(whole[:n])
        text = refusal(saved)
        assert text.startswith(f"cannot resume from {saved}: it is ")
        assert text.endswith("; delete the file or name another")
    assert "it is cut short or damaged" in text


def test_a_file_with_one_wrong_bit_is_refused_in_words(saved):
    whole = saved.read_bytes()
    for n in range(0, len(whole), 10):
        saved.write_bytes(whole[:n] + bytes([whole[n] ^ 1]) + whole[n + 1 :])
        assert refusal(saved).startswith(f"cannot resume from {saved}: ")


def test_the_file_of_another_run_is_refused(saved):
    with pytest.raises(jn.FileError) as error:
        Checkpoint(saved, "yours")
    assert str(error.value) == (
        f"cannot resume from {saved}: it belongs to another run, with other data or other "
        f"settings; delete the file or name another"
    )
    assert Checkpoint(saved, "mine").content.notes == {"a": 1}


def test_the_file_of_a_newer_version_is_refused(path):
    forge(path, b"something new", version=3)
    assert refusal(path) == (
        f"cannot resume from {path}: a newer Jensen wrote it (format 3, this one reads 2); "
        f"update Jensen, delete the file or name another"
    )


@pytest.mark.parametrize(
    "content",
    [b"", b"a,b\n1,2\n", b"PK\x03\x04", b"\n", b"jensen checkpoint one\n", b"x" * 10_000],
)
def test_the_file_of_another_program_is_refused_and_kept(path, content):
    path.write_bytes(content)
    assert refusal(path) == (
        f"cannot resume from {path}: it is no checkpoint of Jensen; delete the file or name another"
    )
    assert path.read_bytes() == content


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no JSON\n",
        b"[]\n",
        b"[" * 100_000 + b"\n",
        b'{"fingerprint": "mine"}\n',
        b'{"fingerprint": "mine", "notes": 0, "arrays": ["a"]}\n',
        b'{"fingerprint": "mine", "notes": 0, "arrays": ["a"]}\nno array',
        b'{"fingerprint": "mine", "notes": 0, "arrays": ["a"]}\n'
        + npy(np.zeros(9)).replace(b"(9,), }" + b" " * 15, b"(9000000000000000,), }"),
        b'{"fingerprint": "mine", "notes": 0, "arrays": ["a"]}\n'
        + npy(np.array([print], dtype=object), allow_pickle=True),
    ],
    ids=["empty", "text", "list", "deep", "half", "missing", "garbage", "huge", "pickle"],
)
def test_a_whole_file_of_nonsense_is_refused_and_runs_no_code(path, body):
    forge(path, body)
    assert "it is cut short or damaged" in refusal(path)


@pytest.mark.parametrize(
    "array",
    [np.array([{}], dtype=object), np.zeros(2, dtype=[("a", "i1"), ("b", "f8")])],
    ids=["objects", "records"],
)
def test_what_is_not_plain_data_is_not_saved(saved, array):
    before = saved.read_bytes()
    with pytest.raises(TypeError, match="cannot be kept as plain data"):
        Checkpoint(saved, "mine").save(None, {"a": array})
    with pytest.raises(TypeError, match="not JSON serializable"):
        Checkpoint(saved, "mine").save(print, {})
    assert saved.read_bytes() == before


def test_paths_that_cannot_be_written_are_refused_at_once(tmp_path, monkeypatch):
    for opened in (lambda p: Checkpoint(p, "mine"), lambda p: SampleFile(p, 1, 0)):
        with pytest.raises(jn.FileError, match=r"^cannot write .*: there is no folder .*gone$"):
            opened(tmp_path / "gone" / "run")
    monkeypatch.setattr(os, "access", lambda target, _: not os.path.isdir(target))
    for opened in (lambda p: Checkpoint(p, "mine"), lambda p: SampleFile(p, 1, 0)):
        with pytest.raises(jn.FileError, match=r"the folder .* is protected against writing"):
            opened(tmp_path / "run")


def refuse(*_, **__):
    raise PermissionError(13, "Permission denied")


def test_a_file_that_may_not_be_read_is_a_file_error(saved, monkeypatch):
    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(jn.FileError, match=r"^cannot read .*run\.checkpoint: Permission denied$"):
        Checkpoint(saved, "mine")


def test_the_clock_decides_when(path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    mine = Checkpoint(path, "mine")
    made = []

    def make(seconds=0.0):
        now[0] += seconds
        made.append(now[0])
        return now[0], {}

    for moment in (100.0, 101.9, 102.0, 103.9, 104.0):
        now[0] = moment
        mine.save_sometimes(make)
    assert made == [102.0, 104.0]
    now[0] = 106.0
    mine.save_sometimes(lambda: make(seconds=1.0))
    for moment in (109.0, 115.9, 116.0):
        now[0] = moment
        mine.save_sometimes(make)
    assert made == [102.0, 104.0, 107.0, 116.0]
    assert Checkpoint(path, "mine").content.notes == 116.0


def test_a_failure_to_make_the_content_is_not_the_end(path, monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY_SECONDS", 0.0)
    mine = Checkpoint(path, "mine")
    with pytest.raises(ZeroDivisionError):
        mine.save_sometimes(lambda: 1 / 0)
    mine.save_sometimes(lambda: (1, {}))
    assert Checkpoint(path, "mine").content.notes == 1


def test_many_threads_save_one_after_another(path, monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY_SECONDS", 0.0)
    mine = Checkpoint(path, "mine")
    failures = []

    def work(k):
        try:
            for i in range(20):
                content = ([k, i], {"x": np.full(1000, 100 * k + i)})
                mine.save(*content)
                mine.save_sometimes(lambda: content)  # noqa: B023
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    (k, i), arrays = Checkpoint(path, "mine").content
    assert i == 19
    assert np.array_equal(arrays["x"], np.full(1000, 100 * k + i))


def test_while_one_thread_saves_the_others_do_not_wait(path, monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY_SECONDS", 0.0)
    mine = Checkpoint(path, "mine")

    def make():
        mine.save_sometimes(lambda: pytest.fail("saved twice"))
        return "once", {}

    mine.save_sometimes(make)
    assert Checkpoint(path, "mine").content.notes == "once"


KILLED = """
import sys
import numpy as np
from jensen.runs.checkpoint import Checkpoint
from jensen.runs.sample_file import LostSamplesError, SampleFile
path = sys.argv[1]
mine = Checkpoint(path, "mine")
i = mine.content.notes if mine.content else 0
samples = SampleFile(path, 1000, i)
while True:
    samples.append(np.full((1, 1000), i))
    i += 1
    mine.save(i, {"x": np.full(100_000, i)})
"""


def test_a_run_killed_while_it_saves_leaves_a_file_that_loads(path):
    reached = 0
    for pause in (0.0, 0.013, 0.05):
        run = subprocess.Popen([sys.executable, "-c", KILLED, str(path)])
        try:
            deadline = time.monotonic() + 60
            before = path.stat().st_mtime_ns if path.exists() else 0
            while not path.exists() or path.stat().st_mtime_ns == before:
                assert run.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.001)
            time.sleep(pause)
        finally:
            run.send_signal(signal.SIGKILL)
            run.wait()
        i, arrays = Checkpoint(path, "mine").content
        assert i > reached
        reached = i
        assert np.array_equal(arrays["x"], np.full(100_000, i))
        rows = SampleFile(path, 1000, i).read()
        assert np.array_equal(rows, np.repeat(np.arange(i)[:, np.newaxis], 1000, axis=1))


def test_samples_come_back_bit_by_bit(path):
    samples = SampleFile(path, 3, 0)
    assert samples.read().shape == (0, 3)
    samples.append(ARRAYS["floats"])
    samples.append(np.empty((0, 3)))
    samples.append(np.repeat(NAN_WITH_PAYLOAD, 6).reshape(3, 2).T)
    expected = np.concatenate([ARRAYS["floats"], np.full((2, 3), NAN_WITH_PAYLOAD)])
    for found in (samples, SampleFile(path, 3, 4)):
        assert found.n_rows == 4
        assert found.read().dtype == np.float64
        assert found.read().tobytes() == expected.tobytes()
    assert (path.parent / "run.checkpoint.samples").exists()


@pytest.mark.parametrize("n_bytes", [0, 1, 8, 23, 24, 100])
def test_what_the_checkpoint_does_not_know_is_cut(path, n_bytes):
    SampleFile(path, 3, 0).append(np.ones((2, 3)))
    with open(f"{path}.samples", "ab") as file:
        file.write(b"x" * n_bytes)
    samples = SampleFile(path, 3, 2)
    samples.append(np.full((1, 3), 2.0))
    assert np.array_equal(samples.read(), [[1, 1, 1], [1, 1, 1], [2, 2, 2]])
    assert np.array_equal(SampleFile(path, 3, 1).read(), [[1, 1, 1]])
    assert SampleFile(path, 3, 0).read().shape == (0, 3)


def test_an_append_that_fails_leaves_the_rows_before(path, monkeypatch):
    samples = SampleFile(path, 1, 0)
    samples.append([[1]])
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "disk full")))
        with pytest.raises(jn.FileError, match=r"^cannot write .*\.samples: disk full$"):
            samples.append([[2], [3], [4]])
    samples.append([[5]])
    assert np.array_equal(samples.read(), [[1], [5]])
    assert np.array_equal(SampleFile(path, 1, 2).read(), [[1], [5]])


@pytest.mark.parametrize("n_left", [0, 10, None])
def test_lost_samples_are_told_with_the_files_to_delete(path, n_left):
    """Of rows, within the first line, and nothing at all."""
    SampleFile(path, 2, 0).append(np.ones((3, 2)))
    os.truncate(
        f"{path}.samples", os.path.getsize(f"{path}.samples") - 1 if n_left is None else n_left
    )
    with pytest.raises(LostSamplesError) as error:
        SampleFile(path, 2, 3)
    assert str(error.value) == (
        f"cannot use {path}.samples: of 3 samples {2 if n_left is None else 0} are whole, and the "
        f"rest is cut short or damaged: put back copies of this file and of {path}, or delete "
        f"both, and the run begins anew"
    )


def test_samples_that_are_gone_are_refused(path):
    SampleFile(path, 2, 0).append(np.ones((3, 2)))
    os.remove(f"{path}.samples")
    with pytest.raises(jn.FileError) as error:
        SampleFile(path, 2, 3)
    assert str(error.value) == (
        f"cannot resume without {path}.samples: it should hold 3 samples; put it back, or delete "
        f"the checkpoint"
    )


def test_a_file_cut_by_another_run_is_noticed(path):
    samples = SampleFile(path, 2, 0)
    samples.append(np.ones((3, 2)))
    SampleFile(path, 2, 1)
    for use in (samples.read, lambda: samples.append(np.ones((1, 2)))):
        with pytest.raises(jn.FileError, match="it holds 1 of 3 samples"):
            use()
    os.remove(f"{path}.samples")
    with pytest.raises(jn.FileError, match=r"cannot read .*: No such file"):
        samples.read()
    with pytest.raises(jn.FileError, match=r"cannot write .*: No such file"):
        samples.append(np.ones((1, 2)))


def test_samples_of_another_run_are_refused(path):
    SampleFile(path, 2, 0, "mine").append(np.ones((6, 2)))
    assert SampleFile(path, 2, 6, "mine").n_rows == 6
    for width, run in [(2, "yours"), (3, "mine"), (1, "mine")]:
        with pytest.raises(jn.FileError, match="does not hold the samples of this run; delete it"):
            SampleFile(path, width, 1, run)
    SampleFile(path, 3, 0, "yours")  # no checkpoint knows them: they are left over
    with pytest.raises(jn.FileError, match="does not hold the samples of this run"):
        SampleFile(path, 2, 6, "mine")


def test_another_programs_file_is_never_overwritten(path):
    (path.parent / "run.checkpoint.samples").write_bytes(b"blood, saliva\n")
    for n_known, text in [(0, "it holds no samples of Jensen; delete"), (1, "does not hold the")]:
        with pytest.raises(jn.FileError, match=text):
            SampleFile(path, 1, n_known)
    assert (path.parent / "run.checkpoint.samples").read_bytes() == b"blood, saliva\n"
    (path.parent / "run.checkpoint.samples").write_bytes(b"")
    SampleFile(path, 1, 0).append([[1]])


def test_samples_that_may_not_be_touched_are_a_file_error(path, monkeypatch):
    SampleFile(path, 1, 0).append([[1]])
    monkeypatch.setattr("builtins.open", refuse)
    for n_known in (0, 1):
        with pytest.raises(jn.FileError, match=r"cannot .* .*\.samples: Permission denied"):
            SampleFile(path, 1, n_known)


def flip(path, bit):
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


def test_samples_with_one_wrong_bit_are_refused_in_words(path):
    """In any row, in its hash, in the first line."""
    file = path.parent / "run.checkpoint.samples"
    samples = SampleFile(path, 2, 0)
    for k in range(3):
        samples.append([[k, -k]])
    whole = file.read_bytes()
    n_head = whole.index(b"\n") + 1
    for bit in range(0, 8 * len(whole), 5):
        flip(file, bit)
        texts = ["does not hold the samples of this run"] * 2
        if bit >= 8 * n_head:
            row = (bit // 8 - n_head) // 24
            texts = [
                f"sample {row + 1} of 3 is damaged, and all that follows would be wrong; put back "
                f"a copy of it and of {path}, or delete both, and the run begins anew"
            ] * 2
            texts[1] = (
                texts[1] if row < 2 else "of 3 samples 2 are whole, and the rest is cut short"
            )
        damaged = file.read_bytes()
        uses = (samples.read, lambda: SampleFile(path, 2, 3))
        for use, text in zip(uses, texts, strict=True):
            with pytest.raises(jn.FileError, match=text):
                use()
        assert file.read_bytes() == damaged
        file.write_bytes(whole)
    assert SampleFile(path, 2, 3).read().tolist() == [[0, 0], [1, -1], [2, -2]]


def test_rows_that_have_changed_places_are_refused(path):
    file = path.parent / "run.checkpoint.samples"
    SampleFile(path, 1, 0).append([[1], [2], [3], [4]])
    head, rows = file.read_bytes()[:-64], file.read_bytes()[-64:]
    file.write_bytes(head + rows[:16] + rows[32:48] + rows[16:32] + rows[48:])
    for n_known in (3, 4):  # a whole row follows, whether it is known or not
        with pytest.raises(jn.FileError, match=f"sample 2 of {n_known} is damaged"):
            SampleFile(path, 1, n_known)


@pytest.mark.parametrize(("n_cut", "is_told"), [(0, False), (1, True), (15, True), (16, False)])
def test_a_damaged_tail_is_cut_off_and_told(path, n_cut, is_told, caplog):
    """Rows that no checkpoint knows of are drawn again; if they are whole, nothing is said."""
    SampleFile(path, 1, 0).append([[1], [2], [3]])
    os.truncate(f"{path}.samples", os.path.getsize(f"{path}.samples") - n_cut)
    samples = SampleFile(path, 1, 1)
    told = (
        f"the last samples in {path}.samples are cut short or damaged, as a run leaves them that "
        f"is killed while it writes: they are cut off and drawn again"
    )
    assert caplog.messages == ([told] if is_told else [])
    samples.append([[5]])
    assert SampleFile(path, 1, 2).read().tolist() == [[1], [5]]


def test_a_tail_with_a_wrong_bit_is_cut_off_and_told(path, caplog):
    SampleFile(path, 1, 0).append([[1], [2], [3]])
    flip(path.parent / "run.checkpoint.samples", 8 * os.path.getsize(f"{path}.samples") - 100)
    assert SampleFile(path, 1, 1).read().tolist() == [[1]]
    assert len(caplog.messages) == 1


def test_samples_of_the_first_format_are_read_and_written_anew(path):
    file = path.parent / "run.checkpoint.samples"
    SampleFile(path, 2, 0, "mine")
    head = file.read_bytes().replace(b"samples 2", b"samples 1")
    file.write_bytes(head + np.arange(6.0).tobytes() + b"half")
    assert SampleFile(path, 2, 2, "mine").read().tolist() == [[0, 1], [2, 3]]
    assert file.read_bytes().startswith(b"jensen samples 2, 2 float64 a row")
    assert SampleFile(path, 2, 2, "mine").read().tolist() == [[0, 1], [2, 3]]
    file.write_bytes(head + np.arange(6.0).tobytes())
    with pytest.raises(LostSamplesError, match="of 4 samples 3 are whole"):
        SampleFile(path, 2, 4, "mine")


@pytest.mark.parametrize("rows", [[1.0, 2.0], [[1.0]], [[[1.0, 2.0]]], np.zeros((0, 3))])
def test_rows_of_the_wrong_shape_are_refused(path, rows):
    with pytest.raises(jn.JensenError, match=r"is a row of 2 numbers, but the array has the shape"):
        SampleFile(path, 2, 0).append(rows)


DIFFERENT = [
    (),
    (None,),
    ((),),
    ((), ()),
    ("",),
    (b"",),
    ("ab",),
    ("a", "b"),
    (["ab"],),
    (["a", "b"],),
    (["a"], ["b"]),
    (["a", ["b"]],),
    ("str 1:a",),
    ("1",),
    (1,),
    (1.0,),
    (True,),
    (False,),
    (0,),
    (0.0,),
    (-0.0,),
    (np.nan,),
    (-np.inf,),
    (2**64,),
    (-(2**64),),
    (0.1 + 0.2,),
    (0.3,),
    ({},),
    ({"a": 1},),
    ({"a": 1.0},),
    ({"b": 1},),
    ({"a": 1, "b": 2},),
    ({"a": 2, "b": 1},),
    ({"a": {"b": 1}},),
    ({1: "a"},),
    (["a", 1],),
    (b"ab",),
    (np.zeros(6),),
    (np.zeros(5),),
    (np.zeros((2, 3)),),
    (np.zeros((3, 2)),),
    (np.zeros((6, 1)),),
    (-np.zeros(6),),
    (np.zeros(6, dtype=np.int64),),
    (np.zeros(6, dtype=np.float32),),
    (np.zeros(6, dtype=">f8"),),
    (np.zeros(6).tobytes(),),
    (np.zeros((0, 2)),),
    (np.zeros((2, 0)),),
    (np.array(0.0),),
    (np.array([0.0]),),
    (np.array([[0.0, 1.0], [2.0, 3.0]]),),
    (np.array([[0.0, 2.0], [1.0, 3.0]]),),
    (np.array(["a", "b"]),),
    (np.array([b"a", b"b"]),),
    (np.array(["2020-01-01"], dtype="M8[D]"),),
    (np.array(["2020-01-01"], dtype="M8[s]"),),
]


def test_whatever_differs_has_another_fingerprint():
    found = [fingerprint(*parts) for parts in DIFFERENT]
    assert len(set(found)) == len(DIFFERENT)
    assert all(len(text) == 64 and int(text, 16) >= 0 for text in found)


def test_equal_content_has_one_fingerprint():
    square = np.arange(6.0).reshape(2, 3)
    for one, other in [
        ({"a": 1, "b": [2]}, {"b": (2,), "a": 1}),
        (np.asfortranarray(square), square),
        (np.arange(12.0)[::2].reshape(2, 3) / 2, square),
        (np.int64(3), 3),
        (np.float64(0.1), 0.1),
        (np.float32(0.5), 0.5),
        (np.True_, True),
        (np.str_("a"), "a"),
        (float("nan"), np.float64("nan")),
        (("a", 1), checkpoint.SavedRun("a", 1)),
    ]:
        assert fingerprint(one) == fingerprint(other)


def test_a_fingerprint_is_the_same_on_every_run():
    parts = ("ß\ud800", {"b": [1.5, None], "a": {"c": True}}, b"x", np.arange(3, dtype="<i4"))
    code = (
        "import numpy as np; from jensen.support.fingerprint import fingerprint; print(fingerprint("
        "'ß\\ud800', {'a': {'c': True}, 'b': [1.5, None]}, b'x', np.arange(3, dtype='<i4')))"
    )
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONUTF8": "1"}
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, env=environment, check=True
        )
        assert done.stdout.decode().strip() == fingerprint(*parts)
    # An older checkpoint must not be refused by a newer Jensen for nothing.
    assert fingerprint("a", 1, [2.5, None], {"b": True}) == (
        "a701302f4d243af7240a09b25132e7251bfb41e239d996a7d79c129f957955dc"
    )


@pytest.mark.parametrize(
    "part",
    [print, {1, 2}, object(), 1j, [object()], np.array([{}], dtype=object)],
    ids=lambda part: type(part).__name__,
)
def test_no_fingerprint_of_what_is_not_plain(part):
    with pytest.raises(TypeError, match="plain data"):
        fingerprint(part)


@pytest.mark.parametrize("kind", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
@pytest.mark.parametrize("seed", [0, [1, 2**70], np.array([3, 4]), np.int64(5), None])
def test_a_restored_generator_goes_on_as_the_old_one_would(kind, seed):
    rng = np.random.Generator(getattr(np.random, kind)(seed)).spawn(3)[1]
    rng.spawn(2)
    rng.integers(10, size=3, dtype=np.uint32)  # half of a 64-bit draw is left over
    other = restore_generator(json.loads(json.dumps(generator_state(rng))))
    assert generator_state(other) == generator_state(rng)
    for draw in (
        lambda g: g.integers(10, size=5, dtype=np.uint32),
        lambda g: g.normal(size=5),
        lambda g: g.spawn(2)[1].random(5),
    ):
        assert np.array_equal(draw(other), draw(rng))


def test_generators_that_cannot_be_kept_are_refused():
    rng = np.random.RandomState(0)._bit_generator
    with pytest.raises(jn.JensenError, match=r"make the generator with np.random.default_rng"):
        generator_state(np.random.Generator(rng))
    state = generator_state(np.random.default_rng(0))
    state["state"]["bit_generator"] = "seed"
    with pytest.raises(jn.JensenError, match=r"^there is no generator 'seed': PCG64, "):
        restore_generator(state)


def test_the_file_of_an_older_version_is_refused(path):
    path.write_bytes(b"jensen checkpoint 1\n" + b"0" * 64 + b"\n{}\n")
    with pytest.raises(jn.FileError) as error:
        Checkpoint(path, "a run")
    assert str(error.value) == (
        f"cannot resume from {path}: an older Jensen wrote it (format 1, this one reads 2), whose "
        f"sums differ in their last bits; finish the run with that version, or begin it anew: "
        f"delete the file or name another"
    )
