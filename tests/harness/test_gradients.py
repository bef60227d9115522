"""Gradients in files: what gradcomp-train dumps, what gradcomp-evaluate reads and writes, and the quality monitor.

The programs are found in $GRADCOMP_BIN; without it all is left out.
"""
import copy
import json
import os
import zipfile

import numpy as np
import pytest

from test_schema import BIN, VALIDATOR, one_line, run

pytestmark = pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")

TRAIN = ["--data", "shapetex10:train=64:test=16", "--steps", "6", "--batch", "8", "--no-controls"]
TOP_K = "top_k:ratio=0.01:label=a/b c"


@pytest.fixture(scope="module", name="dumped")
def fixture_dumped(tmp_path_factory):
    """A folder with the gradients of a short training."""
    folder = tmp_path_factory.mktemp("dumped") / "new"
    done = run("gradcomp-train", *TRAIN, "--methods", f"fp32,{TOP_K}", "--dump-gradients", folder, "--at", "0,1,5")
    assert done.returncode == 0, done.stderr
    return folder


def test_dump_names_and_shapes(dumped):
    names = {f"fp32_step{step}_gradient.npy" for step in (0, 1, 5)}
    names |= {f"a_b_c_step{step}_{kind}.npy" for step in (0, 1, 5) for kind in ("gradient", "accumulated")}
    assert {path.name for path in dumped.iterdir()} == {*names, "layout.txt"}
    for path in map(dumped.joinpath, names):
        array = np.load(path)
        assert array.dtype == np.float32 and array.shape == (269722,) and np.isfinite(array).all() and array.any()


def test_dump_has_the_layout(dumped, tmp_path):
    lines = (dumped / "layout.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 20 and all(len(line.split()) == 2 for line in lines)
    [of_file], [of_model] = (evaluate(tmp_path, "--input", dumped / "fp32_step5_gradient.npy", "--layout", layout, "--methods",
                                      "powersgd:rank=2") for layout in (dumped / "layout.txt", "resnet20"))
    assert of_file["payload_bytes"] == of_model["payload_bytes"] > 0
    assert of_file["relative_l2_error"] == of_model["relative_l2_error"]


def test_dump_is_gradient_and_memory(dumped):
    load = {(step, kind): np.load(dumped / f"a_b_c_step{step}_{kind}.npy")
            for step in (0, 1, 5) for kind in ("gradient", "accumulated")}
    np.testing.assert_array_equal(load[0, "gradient"], np.load(dumped / "fp32_step0_gradient.npy"))
    np.testing.assert_array_equal(load[0, "accumulated"], load[0, "gradient"], "the memory starts empty")
    # What step 0 did not send is the memory of step 1: everything except the 1 % that was sent.
    seen = load[0, "gradient"]
    residual = load[1, "accumulated"] - load[1, "gradient"]
    sent = np.abs(residual) < 1e-6 * np.abs(seen)
    nonzero = seen != 0
    assert abs((sent & nonzero).mean() / 0.01 - 1) < 0.01
    np.testing.assert_allclose(residual[~sent], seen[~sent], rtol=1e-3, atol=1e-6 * np.abs(seen).max())
    assert not np.array_equal(load[5, "accumulated"], load[5, "gradient"])


def test_dump_of_momentum_correction(tmp_path):
    spec = "top_k:ratio=0.5:feedback=momentum_correction:feedback.momentum=0.5:feedback.masking=off:label=m"
    done = run("gradcomp-train", *TRAIN, "--methods", spec, "--dump-gradients", tmp_path, "--at", "0,1,2")
    assert done.returncode == 0, done.stderr
    g, a = ([np.load(tmp_path / f"m_step{step}_{kind}.npy").astype(np.float64) for step in range(3)]
            for kind in ("gradient", "accumulated"))
    np.testing.assert_array_equal(a[0], g[0])
    velocity = [g[0], 0.5 * g[0] + g[1]]
    velocity.append(0.5 * velocity[1] + g[2])
    for step in (1, 2):  # either an entry was sent and only the velocity is left, or its sum continues
        kept, sent = np.abs(a[step] - (a[step - 1] + velocity[step])), np.abs(a[step] - velocity[step])
        tolerance = 1e-5 * np.abs(a[step]).max()
        assert (np.minimum(kept, sent) <= tolerance).all()
        assert (kept > tolerance).any() and (sent > tolerance).any()


@pytest.mark.parametrize("change, reason", [
    (["--at", "6"], "--at 6"), (["--at", "-1"], "--at"), ([], "needs --at"),
    (["--at", "1", "--methods", "top_k:label=a,sidco:label=a"], "the same files"),
    (["--at", "1", "--strategy", "local"], "not allowed with strategy local"),
    (["--at", "1", "--strategy", "overlapped:bucket_kib=64"], "not allowed with bucket_kib"),
])
def test_wrong_dumps_are_one_line(change, reason, tmp_path):
    done = run("gradcomp-train", *TRAIN, "--dump-gradients", tmp_path / "d", *change)
    one_line("gradcomp-train", done)
    assert reason in done.stderr and done.stdout == "" and not (tmp_path / "d").exists()


def test_bad_dump_folder_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "x"):
        done = run("gradcomp-train", *TRAIN, "--dump-gradients", folder, "--at", "1")
        one_line("gradcomp-train", done)
        assert str(folder) in done.stderr and done.stdout == ""


def evaluate(tmp_path, *arguments):
    """The rows of a run, which must be valid by the schema."""
    done = run("gradcomp-evaluate", *arguments, "--output", tmp_path / "F.json")
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "F.json").read_text(encoding="utf-8"))
    VALIDATOR.validate(document)
    return document["benchmarks"]


def test_evaluate_top_k_against_numpy(dumped, tmp_path):
    path = dumped / "fp32_step5_gradient.npy"
    (tmp_path / "out").mkdir()
    row, = evaluate(tmp_path, "--input", path, "--methods", "top_k:ratio=0.01", "--dump", tmp_path / "out")
    gradient = np.load(path).astype(np.float64)
    k = int(0.01 * gradient.size)
    rest = gradient.copy()
    rest[np.argsort(-np.abs(gradient))[:k]] = 0
    assert row["target_density"] == row["achieved_density"] == k / gradient.size
    assert row["relative_l2_error"] == pytest.approx(np.linalg.norm(rest) / np.linalg.norm(gradient), rel=1e-6)
    assert row["payload_bytes"] == 8 * k and row["payload_bits_per_kept"] == 64 and row["verified"] is True
    decoded = np.load(tmp_path / "out" / "fp32_step5_gradient_top_k_ratio=0.01_decoded.npy")
    assert np.count_nonzero(decoded) == k
    np.testing.assert_array_equal(decoded[decoded != 0], gradient[decoded != 0])
    payload = (tmp_path / "out" / "fp32_step5_gradient_top_k_ratio=0.01.bin").read_bytes()
    assert payload[:4] == b"!GCP" and len(payload) == 32 + 8 * k
    indices = np.frombuffer(payload, "<u4", k, 32)
    np.testing.assert_array_equal(indices, np.flatnonzero(decoded))


def test_evaluate_takes_any_shape_and_cycles(tmp_path):
    random = np.random.default_rng(1)
    paths = []
    for step in range(3):
        paths.append(tmp_path / f"g{step}.npy")
        np.save(paths[-1], np.asfortranarray(random.laplace(size=(40, 30)).astype("<f8")))
    rows = evaluate(tmp_path, "--input", *paths, "--methods", "all", "--residual-steps", 7)
    assert {row["steps"] for row in rows} == {7} and {row["stream"] for row in rows} == {"g0+g1+g2"}
    assert {row["loop"] for row in rows} == {"closed"}
    rows = evaluate(tmp_path, "--input", *paths, "--methods", "fp32,powersgd:rank=2")
    assert len(rows) == 6 and rows[1]["compression_ratio"] > 4


COLUMNS = {"method", "elements", "target_density", "achieved_density", "payload_bytes", "compression_ratio",
           "relative_l2_error", "cosine", "compress_ms", "decompress_ms", "read_limit_ratio", "verified"}


@pytest.mark.parametrize("dtype", ["<f2", "<f4", "<f8"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(), (1,), (37,), (5, 7, 3)])
def test_evaluate_reads_what_numpy_writes(dtype, order, shape, tmp_path):
    written = np.asarray(np.random.default_rng(2).laplace(size=shape).astype(dtype), order=order)
    np.save(tmp_path / "g.npy", written)
    (tmp_path / "out").mkdir()
    rows = evaluate(tmp_path, "--input", tmp_path / "g.npy", "--methods", "fp32,top_k:ratio=0.2:feedback=none,qsgd", "--dump",
                    tmp_path / "out", "--timings", 1)
    assert [row["method"] for row in rows] == ["fp32", "top_k:ratio=0.2:feedback=none", "qsgd"]
    dense = written.astype(np.float32).ravel(order="C")
    for row in rows:
        assert set(row) >= COLUMNS and row["elements"] == dense.size and row["verified"] is True
    decoded = {row["method"]: np.load(tmp_path / "out" / f"g_{row['label'].replace(':', '_')}_decoded.npy")
               for row in rows}
    np.testing.assert_array_equal(decoded["fp32"], dense)
    np.testing.assert_array_equal(np.frombuffer((tmp_path / "out" / "g_fp32.bin").read_bytes(), "<f4"), dense)
    for row in rows:
        apart = np.linalg.norm(dense.astype(np.float64) - decoded[row["method"]]) / np.linalg.norm(dense.astype(np.float64))
        assert row["relative_l2_error"] == pytest.approx(apart, rel=1e-5, abs=1e-12)
        assert row["compression_ratio"] == pytest.approx(4 * dense.size / row["payload_bytes"])
    assert rows[0]["target_density"] is None and rows[1]["achieved_density"] == rows[1]["target_density"] > 0


def test_evaluate_one_record_per_file_and_method(tmp_path):
    for name, size in (("a", 50), ("b", 70)):
        np.save(tmp_path / f"{name}.npy", np.linspace(-1, 1, size, dtype=np.float32))
    rows = evaluate(tmp_path, "--input", tmp_path / "a.npy", tmp_path / "b.npy", "--methods", "all", "--timings", 1)
    assert all(set(row) >= COLUMNS for row in rows)
    methods = {row["method"] for row in rows}
    assert {(row["stream"], row["method"]) for row in rows} == {(name, method) for name in "ab" for method in methods}
    assert len(rows) == 2 * len(methods) and {"top_k", "qsgd", "powersgd"} <= methods


def test_gradients_of_the_same_name_are_refused(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "g.npy", np.ones(9, np.float32))
    paths = [tmp_path / name / "g.npy" for name in "ab"]
    done = run("gradcomp-evaluate", "--input", *paths, "--methods", "fp32", "--output", tmp_path / "F.json")
    one_line("gradcomp-evaluate", done)
    assert "two gradients have the name 'g'" in done.stderr and not (tmp_path / "F.json").exists()
    rows = evaluate(tmp_path, "--input", *paths, "--methods", "fp32", "--residual-steps", 2)
    assert [row["stream"] for row in rows] == ["g+g"], "one loop over both"


def test_evaluate_stream_of_a_training(tmp_path):
    rows = evaluate(tmp_path, "--train", "resnet20", "--dataset", "shapetex10:train=32:test=16", "--steps", 4,
                    "--batch", 4, "--at", "0,3", "--methods", "fp32,top_k:ratio=0.001,top_k:granularity=tensor")
    assert [row["steps"] for row in rows] == [4, 4, 4]
    assert rows[0]["relative_l2_error"] == 0 and rows[0]["target_density"] is None
    assert rows[1]["density_ratio_mean"] == rows[1]["density_ratio_late_mean"] == 1
    assert rows[1]["points"]["step"] == [0, 3]
    assert rows[1]["points"]["relative_l2_error"][1] > rows[1]["points"]["relative_l2_error"][0], "errors accumulate"


def test_seeds_and_runs_agree(tmp_path):
    arguments = ["--data", "gamma+zeros:0.3", "--size", 20000, "--repeats", 3, "--methods", "sidco,random_k"]
    drop = ("time", "ms", "read", "decompress")
    keep = [{key: value for key, value in row.items() if not any(word in key for word in drop)}
            for row in evaluate(tmp_path, *arguments)]
    again = [{key: value for key, value in row.items() if key in keep[0]} for row in evaluate(tmp_path, *arguments)]
    other = evaluate(tmp_path, *arguments, "--seed", 2)
    assert keep == again
    assert keep[0]["relative_l2_error"] != other[0]["relative_l2_error"]


@pytest.mark.parametrize("arguments, reason", [
    ([], "nothing to evaluate"), (["--data", "normal"], "allowed: laplace"), (["--data", "laplace", "--size", "0"], "--size"),
    (["--data", "laplace", "--at", "1"], "--train"), (["--train", "no_such"], "no_such"),
    (["--train", "resnet20", "--steps", "3", "--at", "3"], "--at 3"), (["--input", "no/such.npy"], "no/such.npy"),
    (["--data", "laplace", "--repeats", "0"], "--repeats"), (["--data", "laplace", "--methods", "nonsense"], "nonsense"),
    (["--data", "laplace", "--dump", "/dev/null"], "/dev/null"),
    (["--data", "laplace", "--size", "9", "--layout", "resnet20"], "--size 9 is not allowed here"),
    (["--train", "resnet20", "--size", "9"], "--size 9 is not allowed here"), (["--input", "n" * 300], "File name too long"),
    (["--data", "laplace", "--layout", "n" * 300], "File name too long"), (["--data", "a\nb"], "distribution 'a\\nb'"),
    (["--data", "a\udcff"], "'a\\xff', is not UTF-8 text"),
])
def test_wrong_evaluations_are_one_line(arguments, reason, tmp_path):
    done = run("gradcomp-evaluate", *arguments, "--output", tmp_path / "F.json")
    one_line("gradcomp-evaluate", done)
    assert reason in done.stderr and list(tmp_path.iterdir()) == []


def test_bad_files_are_one_line(tmp_path):
    np.save(tmp_path / "nan.npy", np.array([1, np.nan], np.float32))
    np.save(tmp_path / "int.npy", np.arange(3))
    np.save(tmp_path / "empty.npy", np.zeros((0, 3), np.float32))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "nan.npy").read_bytes()[:-1])
    for name, reason in (("nan", "not finite"), ("int", "'<i8'"), ("empty", "no elements"), ("cut", "truncated")):
        done = run("gradcomp-evaluate", "--input", tmp_path / f"{name}.npy", "--methods", "fp32")
        one_line("gradcomp-evaluate", done)
        assert reason in done.stderr and name in done.stderr


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_archive_is_a_gradient_of_named_tensors(tmp_path, save):
    """Archives work like a folder with the same tensors, but in the order in which the tensors were stored."""
    tensors = {"0 layer.weight": np.linspace(-1, 1, 600).reshape(20, 30), "1 bias": np.linspace(2, 3, 70, dtype=np.float16)}
    save(tmp_path / "archive.npz", **tensors)
    save(tmp_path / "turned.npz", **dict(reversed(tensors.items())))
    (tmp_path / "folder").mkdir()
    for name, values in tensors.items():
        np.save(tmp_path / "folder" / name, values)
    paths = [tmp_path / name for name in ("archive.npz", "folder", "turned.npz")]
    evaluate(tmp_path, "--input", *paths, "--methods", "one_bit", "--dump", tmp_path / "out")
    decoded = {path.stem: np.load(tmp_path / "out" / f"{path.stem}_one_bit_decoded.npy") for path in paths}
    np.testing.assert_array_equal(decoded["archive"], decoded["folder"])
    np.testing.assert_array_equal(decoded["archive"], np.roll(decoded["turned"], -70))
    assert len(np.unique(decoded["archive"][:600])) > 2, "a mean for each column: the matrix is known as one"


def test_bad_archives_are_one_line(tmp_path):
    np.savez(tmp_path / "int.npz", good=np.ones(3, np.float32), numbers=np.arange(3))
    np.savez(tmp_path / "nan.npz", good=np.ones(3, np.float32), bad=np.array([1, np.nan]))
    np.savez(tmp_path / "empty.npz")
    np.savez(tmp_path / "flipped.npz", a=np.ones(300, np.float32))
    whole = (tmp_path / "flipped.npz").read_bytes()
    (tmp_path / "flipped.npz").write_bytes(whole[:700] + bytes([whole[700] ^ 1]) + whole[701:])
    (tmp_path / "cut.npz").write_bytes(whole[:-30])
    (tmp_path / "text.npz").write_text("no archive")
    with zipfile.ZipFile(tmp_path / "member.npz", "w") as archive:
        archive.writestr("readme.txt", "no array")
    for name, reason in (("int", "int.npz:numbers.npy' holds elements of type '<i8'"), ("nan", "nan.npz:bad' holds 1 values"),
                         ("empty", "holds no array"), ("flipped", "a.npy': "), ("cut", "as a .npz file: "),
                         ("text", "as a .npz file: "), ("member", "readme.txt' is not a .npy file"),
                         ("missing", "No such file")):
        done = run("gradcomp-evaluate", "--input", tmp_path / f"{name}.npz", "--methods", "fp32", "--output", tmp_path / "F.json")
        one_line("gradcomp-evaluate", done)
        assert reason in done.stderr and f"{name}.npz" in done.stderr and not (tmp_path / "F.json").exists(), done.stderr


def small_array(values=b""):
    """A .npy file that promises one float, with these bytes of it."""
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + values


def test_archives_that_would_fill_the_memory_are_one_line(tmp_path):
    """A few kilobytes, of which any number of gigabytes could be inflated."""
    with zipfile.ZipFile(tmp_path / "promise.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", small_array(bytes(100_000_000)))
    with zipfile.ZipFile(tmp_path / "shared.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("000.npy", small_array(os.urandom(4)))
        member, = archive.infolist()
        for number in range(1, 100):  # all entries of the directory show the same member
            other = copy.copy(member)
            other.filename = f"{number:03}.npy"
            archive.filelist.append(other)
    with zipfile.ZipFile(tmp_path / "twice.npz", "w") as archive, pytest.warns(UserWarning):
        for _ in range(2):
            archive.writestr("a.npy", small_array(bytes(4)))
    with zipfile.ZipFile(tmp_path / "many.npz", "w") as archive:
        for number in range(65_536):
            archive.writestr(f"{number}.npy", b"")
    for name, reason in (("promise", "a.npy' has more bytes of data than the 4 of its shape"), ("shared", "so they overlap"),
                         ("twice", "holds two arrays 'a'"), ("many", "holds 65536 arrays; allowed: up to 65535")):
        done = run("gradcomp-evaluate", "--input", tmp_path / f"{name}.npz", "--methods", "fp32")
        one_line("gradcomp-evaluate", done)
        assert reason in done.stderr and f"{name}.npz" in done.stderr, done.stderr


MISSES = "sidco:ratio=0.01:stages=1"  # a fitted threshold never keeps the target to the last entry


def test_density_tolerance_fails_evaluate(tmp_path):
    arguments = ["--data", "gauss", "--size", 100000, "--methods", f"top_k:ratio=0.01,{MISSES}"]
    evaluate(tmp_path, *arguments)
    done = run("gradcomp-evaluate", *arguments, "--density-tolerance", "0.000001", "--output", tmp_path / "F.json")
    failed("gradcomp-evaluate", done, tmp_path / "F.json")
    assert "'gauss'" in done.stderr


@pytest.mark.parametrize("program, arguments", [
    ("gradcomp-train", [*TRAIN, "--methods", "top_k:ratio=0.01,sidco:ratio=0.01:stages=1"]),
    ("gradcomp-allreduce", ["--sizes", "65536", "--repetitions", "3", "--methods", "top_k,sidco:stages=1:delta1=0.5"]),
])
def test_density_tolerance_of_other_programs(program, arguments, tmp_path):
    done = run(program, *arguments, "--density-tolerance", "100", "--output", tmp_path / "F.json")
    assert done.returncode == 0, done.stderr
    assert "failures" not in json.loads((tmp_path / "F.json").read_text(encoding="utf-8"))["context"]["gradcomp"]
    done = run(program, *arguments, "--density-tolerance", "0.000001", "--output", tmp_path / "G.json")
    failed(program, done, tmp_path / "G.json")
    assert "top_k" not in done.stderr, "exact methods stay in any limit"


def failed(program, done, path):
    """The status is not 0, and one line, which is also in the file, says what is wrong and what is allowed."""
    assert done.returncode == 1
    line = done.stderr.strip()
    assert line.startswith(f"{program}: error: method 'sidco") and "tensor-steps" in line and "allowed: " in line
    assert line.count("\n") == 0
    document = json.loads(path.read_text(encoding="utf-8"))
    VALIDATOR.validate(document)
    failures = document["context"]["gradcomp"]["failures"]
    assert [f"{program}: error: {failure}" for failure in failures] == [line]
