"""What a failed TLS connection means, in words: which trust is missing, whose certificate it is, that there is no TLS at all."""

import ssl
from collections.abc import Iterator

_EXPIRED, _NOT_YET, _SELF_SIGNED, _OWN_ROOT, _NO_ISSUER, _NO_FIRST = 10, 9, 18, 19, 20, 21
_OTHER_NAME = (62, 64)
_REASONS = {
    _EXPIRED: "certificate has expired",
    _NOT_YET: "certificate is not valid yet",
    _SELF_SIGNED: "certificate not trusted (self-signed",
    _OWN_ROOT: "certificate not trusted (of an authority of its own",
    _NO_ISSUER: "certificate not trusted (its authority is unknown",
    _NO_FIRST: "certificate not trusted (its authority is unknown",
}
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST")
NOT_TOLD = "this port speaks TLS: set tls {ca: FILE} or {verify: false} of this server"


def tls_error(error: BaseException) -> ssl.SSLError | None:
    """The TLS error that an HTTP error came of; None: it came of none."""
    return next((each for each in _causes(error) if isinstance(each, ssl.SSLError)), None)


def is_untrusted(error: ssl.SSLError) -> bool:
    """TLS is there, only the certificate is not accepted."""
    return isinstance(error, ssl.SSLCertVerificationError)


def tls_words(error: ssl.SSLError, common_name: str | None) -> str:
    """`certificate not trusted (self-signed, CN gpu-a)`."""
    if not isinstance(error, ssl.SSLCertVerificationError):
        no_tls = error.reason in _NO_TLS
        return "no TLS on this port: remove `tls` of this server" if no_tls else f"TLS failed: {error.reason or error}"
    whose = f"CN {common_name}" if common_name else ""
    if error.verify_code in _OTHER_NAME:
        return f"certificate is for another name{f' ({whose})' if whose else ''}"
    words = _REASONS.get(error.verify_code, f"certificate not trusted ({error.verify_message}")
    if "(" not in words:
        return f"{words} ({whose})" if whose else words
    return f"{words}, {whose})" if whose else f"{words})"


def common_name_of(certificate: bytes) -> str | None:
    """`gpu-a` of a certificate in DER; None if it has none."""
    from cryptography import x509  # takes long to import: only where a certificate is in doubt

    try:
        names = x509.load_der_x509_certificate(certificate).subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    except ValueError:
        return None
    return str(names[0].value)[:64] if names else None


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    for _ in range(10):
        if seen is None:
            return
        yield seen
        seen = seen.__cause__ or seen.__context__
