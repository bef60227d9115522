"""Settings of all tests here."""
import pytest


@pytest.fixture(name="tmp_path")
def fixture_tmp_path(tmp_path):
    """Tools take folders whose names a shell would split."""
    folder = tmp_path / "a b#c"
    folder.mkdir()
    return folder


@pytest.fixture(autouse=True)
def fixture_measuring(tmp_path, monkeypatch):
    """Each test has a lock of its own: tests run at the same time, and a real measurement may be running."""
    monkeypatch.setenv("GRADCOMP_MEASURING", str(tmp_path.parent / f"{tmp_path.name}.lock"))
