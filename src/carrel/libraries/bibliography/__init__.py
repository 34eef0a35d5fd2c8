"""Bibliography formats to and from CSL-JSON items. No decisions are made here."""
