"""Programs in the manner of public benchmark suites, written for this project: kernels as OpenCL programmers write them,
realistic sizes, and the outputs that numpy computes.

Each module holds programs of one subject. `PROGRAMS` has them all by name: a function that takes `small` (sizes for tests and
CPUs) and returns a `Program`.
"""

from .program import PROGRAMS, Program
from . import algebra, particles, recurrences, sorting, sparse, stencils

__all__ = ["PROGRAMS", "Program"]
