"""A client of Mailproof: it verifies addresses and lists, finds addresses and checks domains. It has no dependencies.

    from mailproof_client import Mailproof

    mailproof = Mailproof("https://api.example.com", "mp_live_...")
    print(mailproof.verify_email(email="ada@example.com")["status"])
"""

from .client import Mailproof
from .transport import MailproofError

__all__ = ["Mailproof", "MailproofError"]
