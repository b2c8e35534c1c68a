# Annotations of the future, TypedDict, Optional.
# servers: crm
# calls: crm.search-contacts 1
# result: "Ana Sousa"
from __future__ import annotations
from typing import Optional, TypedDict

class Contact(TypedDict):
    id: str
    name: str
    phone: Optional[str]

def first_with_phone(contacts: list[Contact]) -> Contact | None:
    return next((c for c in contacts if c["phone"]), None)

contact = first_with_phone(crm_search_contacts(query="a")["contacts"])
contact["name"] if contact else None
