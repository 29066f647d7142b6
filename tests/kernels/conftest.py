import pytest
from numba import config
from numba.core.dispatcher import Dispatcher
from numba.core.sigutils import normalize_signature

from jensen import kernels


def _check(*, compiled=False):
    for item in kernels.load_all():
        declared, _ = normalize_signature(item.signature)
        found = item.function.signatures
        assert found == [declared] or (not compiled and not found), item.function.__name__
    for module in kernels.MODULES:
        for name, helper in vars(getattr(kernels, module)).items():
            assert not isinstance(helper, Dispatcher) or len(helper.signatures) <= 1, name


@pytest.fixture
def check_signatures():
    """No kernel has another signature than its declared one; all have it if `compiled`."""
    return _check


@pytest.fixture(autouse=True, scope="session")
def every_kernel_keeps_its_one_signature():
    """Whatever the tests of this folder hand to a kernel, it is compiled once, as declared."""
    yield
    if not config.DISABLE_JIT:
        _check()
