"""What a home holds, counted without opening the desk."""

from carrel.stores.home.inventory import Inventory, Shelf, UnreadFile, take_inventory

__all__ = ["Inventory", "Shelf", "UnreadFile", "take_inventory"]
