import numpy as np

from warplens.launchspec.array_view import ArrayView, memory, view_of


def test_a_whole_array_is_itself() -> None:
    array = np.zeros((3, 4))
    assert view_of(array) is array


def test_a_slice_is_an_address_in_its_owner() -> None:
    array = np.zeros((3, 4))
    view = view_of(array[1:, 2:])
    assert isinstance(view, ArrayView)
    assert (view.offset, view.storage.nbytes) == (6 * 8, 96)
    assert view.storage.ctypes.data == array.ctypes.data


def test_a_transposed_array_is_the_memory_of_its_owner() -> None:
    array = np.zeros((3, 4))
    view = view_of(array.T)
    assert isinstance(view, ArrayView)
    assert view.offset == 0
    assert np.shares_memory(view.storage, array)


def test_an_array_in_columns_is_its_memory() -> None:
    array = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    view = view_of(array)
    assert isinstance(view, ArrayView)
    assert view.storage.flags.c_contiguous
    assert view.storage.ctypes.data == array.ctypes.data


def test_memory_keeps_its_owner_alive() -> None:
    owner = np.arange(4, dtype=np.uint8)
    bytes_there = memory(owner.ctypes.data, 4, owner)
    bytes_there[1] = 9
    assert owner.tolist() == [0, 9, 2, 3]
