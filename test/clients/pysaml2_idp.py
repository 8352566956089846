"""An identity provider made of pysaml2. Prints its metadata, or messages in base64, honest and hostile, as JSON.

Arguments: a folder with idp.key and idp.crt, and the entity id. Standard input: JSON with the metadata of the service
provider, its addresses and the id of its request; empty for the metadata of the identity provider.
"""

import base64
import json
import shutil
import sys
from copy import deepcopy
from datetime import datetime, timedelta, timezone

from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.config import IdPConfig
from saml2.metadata import entity_descriptor
from saml2.saml import NAMEID_FORMAT_PERSISTENT, NameID, attribute_statement_from_string
from saml2.samlp import response_from_string
from saml2.server import Server
from saml2.sigver import pre_signature_part
from saml2.xmldsig import DIGEST_SHA1, DIGEST_SHA256, DIGEST_SHA512
from saml2.xmldsig import SIG_RSA_SHA1, SIG_RSA_SHA256, SIG_RSA_SHA512

folder, entity_id = sys.argv[1:3]
given = json.loads(sys.stdin.read() or "{}")


def config(key="idp"):
    return IdPConfig().load(
        {
            "entityid": entity_id,
            "xmlsec_binary": shutil.which("xmlsec1"),
            "key_file": f"{folder}/{key}.key",
            "cert_file": f"{folder}/{key}.crt",
            "service": {
                "idp": {
                    "endpoints": {
                        "single_sign_on_service": [
                            (f"{entity_id}/sso/redirect", BINDING_HTTP_REDIRECT),
                            (f"{entity_id}/sso/post", BINDING_HTTP_POST),
                        ],
                        "single_logout_service": [
                            (f"{entity_id}/slo/redirect", BINDING_HTTP_REDIRECT),
                            (f"{entity_id}/slo/post", BINDING_HTTP_POST),
                        ],
                    },
                    "policy": {"default": {"lifetime": {"minutes": 5}}},
                    "name_id_format": [NAMEID_FORMAT_PERSISTENT],
                }
            },
            **({"metadata": {"inline": [given["metadata"]]}} if given else {}),
        }
    )


if not given:
    print(json.dumps({"metadata": str(entity_descriptor(config()))}))
    sys.exit()

idp, attacker = Server(config=config()), Server(config=config("attacker"))
name_id = NameID(format=NAMEID_FORMAT_PERSISTENT, text="ann", sp_name_qualifier=given["entity_id"])
identity = {"mail": ["ann@corp.example"], "givenName": ["Ann"], "eduPersonAffiliation": ["staff", "member"]}


def response(server=idp, **options):
    return server.create_authn_response(
        **{
            "identity": identity,
            "in_response_to": None,
            "destination": given["acs"],
            "sp_entity_id": given["entity_id"],
            "name_id": name_id,
            "userid": "ann",
            "sign_assertion": True,
            "sign_response": False,
            "sign_alg": SIG_RSA_SHA256,
            "digest_alg": DIGEST_SHA256,
            "session_not_on_or_after": None,
            **options,
        }
    )


def signed_anew(change):
    """A response whose assertion was changed before it was signed."""
    message = response(sign_assertion=False)
    message = message if not isinstance(message, str) else response_from_string(message)
    assertion = message.assertion
    assertion = assertion[0] if isinstance(assertion, list) else assertion
    change(assertion)
    assertion.signature = pre_signature_part(
        assertion.id, idp.sec.my_cert, identifier=1, digest_alg=DIGEST_SHA256, sign_alg=SIG_RSA_SHA256
    )
    return idp.sec.sign_statement(
        str(message), "urn:oasis:names:tc:SAML:2.0:assertion:Assertion", node_id=assertion.id
    )


def time(seconds):
    return (datetime.now(timezone.utc) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def expired(assertion):
    assertion.conditions.not_on_or_after = time(-400)


def early(assertion):
    assertion.conditions.not_before = time(400)


def confirmed_late(assertion):
    assertion.subject.subject_confirmation[0].subject_confirmation_data.not_on_or_after = time(-400)


def recipient(assertion):
    assertion.subject.subject_confirmation[0].subject_confirmation_data.recipient = "https://other.example/acs"


def other_issuer(assertion):
    assertion.issuer.text = "https://other.example/idp"


def no_audience(assertion):
    assertion.conditions.audience_restriction = []


def tampered():
    return str(response()).replace("ann@corp.example", "admin@corp.example")


def two_assertions():
    one, other = str(response()), str(response())
    extra = other[other.index("<ns1:Assertion") : other.index("</ns1:Assertion>") + 16]
    return one.replace("</ns0:Response>", extra + "</ns0:Response>")


makers = {
    "signed assertion": lambda: response(),
    "signed response": lambda: response(sign_assertion=False, sign_response=True),
    "both signed": lambda: response(sign_response=True),
    "signed with SHA-512": lambda: response(sign_alg=SIG_RSA_SHA512, digest_alg=DIGEST_SHA512),
    "answer to the request": lambda: response(in_response_to=given["request_id"]),
    "for logout by redirect": lambda: response(),
    "for logout by post": lambda: response(),
    "unsigned": lambda: response(sign_assertion=False),
    "SHA-1": lambda: response(sign_alg=SIG_RSA_SHA1, digest_alg=DIGEST_SHA1),
    "another audience": lambda: response(sp_entity_id="https://other.example/metadata"),
    "another destination": lambda: response(destination="https://other.example/acs"),
    "another request": lambda: response(in_response_to="id-of-another-request"),
    "another key": lambda: response(server=attacker),
    "changed after it was signed": tampered,
    "two assertions": two_assertions,
    "expired": lambda: signed_anew(expired),
    "not yet valid": lambda: signed_anew(early),
    "expired confirmation": lambda: signed_anew(confirmed_late),
    "another recipient": lambda: signed_anew(recipient),
    "another issuer": lambda: signed_anew(other_issuer),
    "no audience": lambda: signed_anew(no_audience),
    "Triple DES": lambda: response(encrypt_assertion=True, encrypt_cert_assertion=given["certificate"]),
}


def logout_request(binding, server=idp):
    request_id, request = server.create_logout_request(
        given["slo"], entity_id, name_id=deepcopy(name_id), sign=binding == BINDING_HTTP_POST,
        sign_alg=SIG_RSA_SHA256, digest_alg=DIGEST_SHA256,
    )
    http = server.apply_binding(
        binding, str(request), given["slo"], "state", sign=binding == BINDING_HTTP_REDIRECT, sigalg=SIG_RSA_SHA256
    )
    if binding == BINDING_HTTP_REDIRECT:
        return dict(http["headers"])["Location"]
    return base64.b64encode(str(request).encode()).decode()


made = {name: base64.b64encode(str(make()).encode()).decode() for name, make in makers.items()}
logouts = {
    "redirect": logout_request(BINDING_HTTP_REDIRECT),
    "post": logout_request(BINDING_HTTP_POST),
    "redirect signed with another key": logout_request(BINDING_HTTP_REDIRECT, attacker),
}
print(json.dumps({"responses": made, "logouts": logouts}))
