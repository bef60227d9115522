"""spack/: the recipe agrees with CMakeLists.txt, docs/dependencies.md and docs/install.md. The tests need no Spack, because a
stub records the directives of the recipe. They do not check what only Spack's solver knows."""
import pathlib
import re

import pytest

from spack_stub import AMD_TARGETS, CUDA_ARCHITECTURES, load

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPACK = ROOT / "spack"
REPOSITORY = SPACK / "spack_repo" / "gradcomp"
RECIPE = REPOSITORY / "packages" / "gradcomp" / "package.py"
VARIANTS = {"mpi", "serial", "openmp", "cuda", "rocm", "nccl", "rccl", "python", "tests"}
INHERITED = {"cuda", "rocm"}  # of CudaPackage and ROCmPackage
# name in Spack: name in docs/dependencies.md, if the two differ
NAMES = {"benchmark": "Google Benchmark", "boost": "Boost.Math", "cuda": "CUDA Toolkit",
         "kokkos-kernels": "Kokkos Kernels", "openblas": "CBLAS"}


@pytest.fixture(name="recipe", scope="module")
def fixture_recipe():
    return load(RECIPE)


def arguments(recipe, *variants):
    return dict(word[2:].split("=", 1) for word in recipe[0](*variants).cmake_args())


def conditions(recorder, variant):
    """The conditions of dependencies that need the variant."""
    return [keywords["when"] for _, keywords in recorder.of("depends_on") if f"+{variant}" in keywords["when"]]


def test_variants_are_those_promised(recipe):
    assert {args[0] for args, _ in recipe[1].of("variant")} | INHERITED == VARIANTS
    page = (ROOT / "docs" / "install.md").read_text()
    assert all(f"`{variant}`" in page for variant in VARIANTS)


def test_every_option_named_exists(recipe):
    texts = [path.read_text() for path in (ROOT / "CMakeLists.txt", ROOT / "tests" / "CMakeLists.txt")]
    options = set(re.findall(r"^option\((\w+)", "\n".join(texts), re.MULTILINE))
    named = {name for name in arguments(recipe, *VARIANTS) if not name.startswith("CMAKE_")}
    assert named and named <= options, named - options


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_every_variant_matters(recipe, variant):
    """A variant must change the arguments of CMake or the dependencies."""
    others = VARIANTS - {variant, "cuda", "rocm"}
    reaches = arguments(recipe, *others, variant) != arguments(recipe, *others)
    assert reaches or conditions(recipe[1], variant)


def test_back_ends_and_architectures_are_handed_on(recipe):
    asked = {(args[0], keywords["when"]) for args, keywords in recipe[1].of("depends_on")}
    assert {("kokkos+serial", "+serial"), ("kokkos+openmp", "+openmp"), ("kokkos+rocm", "+rocm")} <= asked
    refused = {(args[0], keywords["when"]) for args, keywords in recipe[1].of("conflicts")}
    assert ("+cuda", "cuda_arch=90a") in refused and not any("cuda_arch=90a" in what for what, _ in asked)
    for arch in (arch for arch in CUDA_ARCHITECTURES if arch.isdigit()):
        for package in ("kokkos", "kokkos-kernels"):
            assert (f"{package} cuda_arch={arch}", f"+cuda cuda_arch={arch}") in asked
        assert (f"nccl+cuda cuda_arch={arch}", f"+nccl cuda_arch={arch}") in asked, "its recipe refuses cuda_arch=none"
    for arch in AMD_TARGETS:
        assert (f"kokkos amdgpu_target={arch}", f"+rocm amdgpu_target={arch}") in asked


@pytest.mark.parametrize("variant, device", [("nccl", "cuda"), ("rccl", "rocm")])
def test_a_library_of_the_vendor_needs_its_gpu_and_mpi(recipe, variant, device):
    refused = {(args[0], keywords["when"]) for args, keywords in recipe[1].of("conflicts")}
    assert {(f"+{variant}", f"~{device}"), (f"+{variant}", "~mpi")} <= refused
    assert arguments(recipe, "mpi", device)["GRADCOMP_ENABLE_NCCL"] == "OFF"
    assert arguments(recipe, "mpi", device, variant)["GRADCOMP_ENABLE_NCCL"] == "ON"


def test_a_gpu_has_kokkos_kernels_and_its_compiler(recipe):
    assert arguments(recipe, "mpi")["GRADCOMP_ENABLE_KOKKOS_KERNELS"] == "OFF"
    for variant, compiler in (("cuda", "nvcc_wrapper"), ("rocm", "hipcc")):
        given = arguments(recipe, "mpi", variant)
        assert given["GRADCOMP_ENABLE_KOKKOS_KERNELS"] == "ON" and given["CMAKE_CXX_COMPILER"] == compiler


def test_every_version_is_documented(recipe):
    page = (ROOT / "docs" / "dependencies.md").read_text()
    lines = [line.split("|") for line in page.splitlines() if line.startswith("| ")]
    rows = {cells[1].strip().lower(): cells[2] for cells in lines}
    for args, _ in recipe[1].of("depends_on"):
        name, version = re.match(r"([\w-]+)(?:@([\d.]+):)?", args[0]).groups()
        if name in ("c", "cxx", "ninja"):
            continue
        needs = rows.get(NAMES.get(name, name.removeprefix("py-")).lower())
        assert needs, f"docs/dependencies.md has no line for {name}"
        assert not version or version in needs, f"{name}@{version}: docs/dependencies.md says {needs}"


def test_every_conflict_says_why(recipe):
    assert len(recipe[1].of("conflicts")) >= 6
    assert all(keywords.get("msg") for _, keywords in recipe[1].of("conflicts"))


def test_smoke_tests(recipe):
    tests = [value for name, value in vars(recipe[0]).items() if name.startswith("test_") and callable(value)]
    assert len(tests) == 3 and all(test.__doc__ for test in tests)
    assert (ROOT / "tests" / "install" / "project" / "alone.cpp").is_file()


def test_repository():
    text = (REPOSITORY / "repo.yaml").read_text()
    assert "namespace: gradcomp" in text and "api: v2.0" in text
    index = (ROOT / "spack-repo-index.yaml").read_text()
    assert (ROOT / re.search(r"^  - (.*)$", index, re.MULTILINE).group(1)).samefile(REPOSITORY)


@pytest.mark.parametrize("name,variant", [("nvidia", "cuda"), ("amd", "rocm"), ("cpu", "openmp")])
def test_environments(recipe, name, variant):
    path = SPACK / "environments" / name / "spack.yaml"
    text = path.read_text()
    assert (path.parent / re.search(r"^    gradcomp: (.*)$", text, re.MULTILINE).group(1)).samefile(REPOSITORY)
    assert (path.parent / re.search(r"^      path: (.*)$", text, re.MULTILINE).group(1)).samefile(ROOT)
    spec = re.search(r"^  - (gradcomp@.*)$", text, re.MULTILINE).group(1)
    used = set(re.findall(r"[+~](\w+)", spec))
    assert variant in used <= VARIANTS
    assert re.search(r"@([\w.]+)", spec).group(1) in {args[0] for args, _ in recipe[1].of("version")}
    if variant in INHERITED:
        assert re.search(r"cuda_arch=\d+" if variant == "cuda" else r"amdgpu_target=gfx\w+", spec)
        # ./run device-check needs them: its probe looks for GTest, and the presets cuda and hip have the vendor's library
        assert {"tests", "nccl" if variant == "cuda" else "rccl"} <= used


def test_style():
    for path in [RECIPE, REPOSITORY / "repo.yaml", *SPACK.glob("environments/*/spack.yaml")]:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            assert len(line) <= 99, f"{path}:{number} is too long"  # Spack's own limit
            assert line == line.rstrip(), f"{path}:{number} ends in spaces"
