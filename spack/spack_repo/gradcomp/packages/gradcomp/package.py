# SPDX-License-Identifier: BSD-3-Clause
"""The Spack recipe of gradcomp. tests/harness/test_spack.py holds it against CMakeLists.txt and
docs/dependencies.md."""

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.rocm import ROCmPackage

from spack.package import *


class Gradcomp(CMakePackage, CudaPackage, ROCmPackage):
    """Measures gradient compression for distributed training: Kokkos kernels of many methods,
    data-parallel training over MPI, statistics and reports."""

    # The project has no public place yet: the environments build a checkout (develop).
    homepage = "https://example.org/gradcomp"
    git = "https://example.org/gradcomp.git"

    license("BSD-3-Clause")
    test_requires_compiler = True

    version("main", branch="main")

    variant("mpi", default=True, description="The transport over MPI and the programs")
    variant("serial", default=True, description="Kokkos' Serial back end")
    variant("openmp", default=True, description="Kokkos' OpenMP back end")
    variant("nccl", default=False, description="The transport over NCCL, for NVIDIA GPUs")
    variant("rccl", default=False, description="The transport over RCCL, for AMD GPUs")
    variant("python", default=True, description="The Python tools: reports, gate, data sets")
    variant("tests", default=False, description="Build the unit tests")

    depends_on("cxx", type="build")
    depends_on("c", type="build", when="+mpi")  # CMake's search for MPI compiles C
    depends_on("cmake@3.25:", type="build")

    depends_on("kokkos@5.0:")
    depends_on("fmt@9:")
    depends_on("boost@1.74:+math")
    depends_on("openblas threads=none", when="~cuda~rocm")
    depends_on("mpi@3.1:", when="+mpi")
    depends_on("cli11@2.3:", when="+mpi")
    depends_on("nlohmann-json@3.10:", when="+mpi")
    depends_on("libzip@1.7:", when="+mpi")
    depends_on("benchmark@1.7:", when="+mpi")
    depends_on("googletest@1.12:+gmock", when="+tests")

    for backend in ("serial", "openmp"):
        depends_on(f"kokkos+{backend}", when=f"+{backend}")

    # A GPU's products of matrices come from Kokkos Kernels, through the vendor's library.
    depends_on("cuda@12.2:", when="+cuda")
    depends_on("kokkos+cuda+wrapper+cuda_constexpr", when="+cuda")
    depends_on("kokkos-kernels@5.0:+cuda+cublas scalars=float,double", when="+cuda")
    for arch in CudaPackage.cuda_arch_values:
        if not arch.isdigit():  # 90a and the like
            conflicts("+cuda", when=f"cuda_arch={arch}", msg="not known to Kokkos")
            continue
        depends_on(f"kokkos cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
        depends_on(f"kokkos-kernels cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
        depends_on(f"nccl+cuda cuda_arch={arch}", when=f"+nccl cuda_arch={arch}")
    depends_on("kokkos+rocm", when="+rocm")
    # Kokkos Kernels has no amdgpu_target: it follows its Kokkos.
    depends_on("kokkos-kernels@5.0:+rocblas scalars=float,double", when="+rocm")
    for arch in ROCmPackage.amdgpu_targets:
        depends_on(f"kokkos amdgpu_target={arch}", when=f"+rocm amdgpu_target={arch}")

    depends_on("nccl@2.13:", when="+nccl")
    depends_on("rccl@5.4:", when="+rccl")

    with when("+python"):
        depends_on("python@3.11:", type="run")
        depends_on("py-numpy", type="run")
        depends_on("py-scipy", type="run")
        depends_on("py-pandas", type="run")
        depends_on("py-matplotlib", type="run")
        depends_on("py-jinja2", type="run")
        depends_on("py-jsonschema", type="run")
        depends_on("py-scikit-learn", type="run")

    conflicts("+nccl", when="~cuda", msg="NCCL is for NVIDIA GPUs: +cuda")
    conflicts("+rccl", when="~rocm", msg="RCCL is for AMD GPUs: +rocm")
    conflicts("+nccl", when="~mpi", msg="the ranks of NCCL meet over MPI: +mpi")
    conflicts("+rccl", when="~mpi", msg="the ranks of RCCL meet over MPI: +mpi")
    conflicts("~serial~openmp", msg="Kokkos needs a host back end: +serial or +openmp")
    conflicts("+cuda", when="+rocm", msg="a build is for one kind of GPU: Kokkos has CUDA or HIP")
    conflicts("+cuda", when="cuda_arch=none", msg="say which GPU: cuda_arch=90, say")
    conflicts("+rocm", when="amdgpu_target=none", msg="say which GPU: amdgpu_target=gfx90a, say")

    generator("ninja")

    def compiler_of_kernels(self):
        """What compiles code with kernels: the device's compiler, where there is one."""
        if self.spec.satisfies("+cuda"):
            return self["kokkos"].kokkos_cxx
        if self.spec.satisfies("+rocm"):
            return self.spec["hip"].hipcc
        return self.spec["cxx"].package.cxx

    def cmake_args(self):
        device = self.spec.satisfies("+cuda") or self.spec.satisfies("+rocm")
        vendors = self.spec.satisfies("+nccl") or self.spec.satisfies("+rccl")
        args = [
            self.define_from_variant("GRADCOMP_ENABLE_MPI", "mpi"),
            self.define_from_variant("GRADCOMP_ENABLE_PROGRAMS", "mpi"),
            self.define_from_variant("GRADCOMP_ENABLE_BENCH", "mpi"),
            self.define_from_variant("GRADCOMP_ENABLE_PYTHON", "python"),
            self.define_from_variant("GRADCOMP_ENABLE_TESTS", "tests"),
            self.define("GRADCOMP_ENABLE_HARNESS_TESTS", False),  # they need a checkout and pytest
            self.define("GRADCOMP_ENABLE_KOKKOS_KERNELS", device),
            self.define("GRADCOMP_ENABLE_NCCL", vendors),
            self.define("GRADCOMP_NATIVE_ARCH", False),  # Spack knows the target
            self.define("CMAKE_DISABLE_PRECOMPILE_HEADERS", device),  # nvcc cannot use g++'s
        ]
        if device:  # elsewhere CMake takes Spack's wrapper
            args.append(self.define("CMAKE_CXX_COMPILER", self.compiler_of_kernels()))
        return args

    @run_after("install")
    def keep_users_project(self):
        """Keeps the user's project of the tests for `spack test run`."""
        cache_extra_test_sources(self, [join_path("tests", "install", "project")])

    def test_methods(self):
        """compress and verify one gradient with some methods"""
        if self.spec.satisfies("~mpi"):
            raise SkipTest("the programs are built with +mpi")
        evaluate = which(self.prefix.bin.join("gradcomp-evaluate"), required=True)
        evaluate("--data", "laplace", "--size", "4096", "--methods", "fp32,top_k,qsgd,powersgd")

    def test_tools(self):
        """the Python tools start"""
        if self.spec.satisfies("~python"):
            raise SkipTest("the tools are installed with +python")
        for tool in ("gradcomp-compare", "gradcomp-datasets", "gradcomp-report"):
            which(self.prefix.bin.join(tool), required=True)("--help")

    def test_users_project(self):
        """build a user's own method against the installation and run it"""
        folder = join_path(self.test_suite.current_test_cache_dir, "tests", "install", "project")
        cmake = which(self.spec["cmake"].prefix.bin.cmake, required=True)
        with working_dir("build", create=True):
            cmake(
                folder,
                self.define("gradcomp_ROOT", self.prefix),
                self.define("CMAKE_PREFIX_PATH", get_cmake_prefix_path(self)),
                self.define("CMAKE_CXX_COMPILER", self.compiler_of_kernels()),
            )
            cmake("--build", ".", "--target", "alone")
            which("./alone", required=True)()
