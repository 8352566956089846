"""An identity provider made of pysaml2 that a browser uses. Its user is always signed in.

Arguments: a folder with idp.key and idp.crt, the port, and the address of the metadata of the service provider.
"""

import json
import shutil
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.config import IdPConfig
from saml2.metadata import entity_descriptor
from saml2.saml import NAMEID_FORMAT_PERSISTENT, NameID
from saml2.server import Server
from saml2.xmldsig import DIGEST_SHA256, SIG_RSA_SHA256

folder, port, sp_metadata = sys.argv[1:4]
base = f"http://127.0.0.1:{port}"
entity_id = f"{base}/metadata"
bindings = {"redirect": BINDING_HTTP_REDIRECT, "post": BINDING_HTTP_POST}


def config(metadata=None):
    endpoints = {
        name: [(f"{base}/{path}/{kind}", binding) for kind, binding in bindings.items()]
        for name, path in (("single_sign_on_service", "sso"), ("single_logout_service", "slo"))
    }
    return IdPConfig().load(
        {
            "entityid": entity_id,
            "xmlsec_binary": shutil.which("xmlsec1"),
            "key_file": f"{folder}/idp.key",
            "cert_file": f"{folder}/idp.crt",
            "service": {
                "idp": {
                    "endpoints": endpoints,
                    "want_authn_requests_signed": True,
                    "policy": {"default": {"lifetime": {"minutes": 5}}},
                    "name_id_format": [NAMEID_FORMAT_PERSISTENT],
                }
            },
            **({"metadata": {"inline": [metadata]}} if metadata else {}),
        }
    )


idp = Server(config=config(urllib.request.urlopen(sp_metadata).read().decode()))
name_id = NameID(format=NAMEID_FORMAT_PERSISTENT, text="ann", sp_name_qualifier=sp_metadata)
identity = {"mail": ["ann@corp.example"], "givenName": ["Ann"]}
received = []
flags = set()


def signature_of(query, kind):
    """What a redirect carries beside the message; the signature of a form is in the message."""
    if kind == "post":
        return {}
    return {"relay_state": query.get("RelayState"), "sigalg": query["SigAlg"], "signature": query["Signature"]}


def sign_in(query, kind):
    request = idp.parse_authn_request(query["SAMLRequest"], bindings[kind], **signature_of(query, kind))
    received.append(f"AuthnRequest by {kind}")
    response = idp.create_authn_response(
        identity=identity,
        userid="ann",
        name_id=name_id,
        sign_assertion=True,
        sign_response=True,
        sign_alg=SIG_RSA_SHA256,
        digest_alg=DIGEST_SHA256,
        **idp.response_args(request.message, [BINDING_HTTP_POST]),
    )
    acs = request.message.assertion_consumer_service_url
    return idp.apply_binding(BINDING_HTTP_POST, str(response), acs, query.get("RelayState", ""), response=True)


def sign_out(query, kind):
    """The response is not signed after a visit of /unsigned, as that of Entra ID."""
    if "SAMLResponse" in query:
        answer = idp.parse_logout_request_response(query["SAMLResponse"], bindings[kind])
        received.append(f"LogoutResponse {'ok' if answer.status_ok() else 'failed'}")
        return {"headers": [("Location", f"{base}/done")]}
    request = idp.parse_logout_request(query["SAMLRequest"], bindings[kind], **signature_of(query, kind))
    received.append(f"LogoutRequest of {request.message.name_id.text}")
    binding, destination = idp.pick_binding(
        "single_logout_service", [BINDING_HTTP_REDIRECT], "spsso", request=request.message
    )
    response = idp.create_logout_response(request.message, [binding], sign=False)
    return idp.apply_binding(
        binding, str(response), destination, query.get("RelayState", ""), response=True, sign="unsigned" not in flags,
        sigalg=SIG_RSA_SHA256,
    )


def start_sign_out(query, kind):
    destination = idp.metadata.single_logout_service(sp_metadata, BINDING_HTTP_REDIRECT, "spsso")[0]["location"]
    _, request = idp.create_logout_request(destination, sp_metadata, name_id=name_id, sign=False)
    return idp.apply_binding(
        BINDING_HTTP_REDIRECT, str(request), destination, "there", sign=True, sigalg=SIG_RSA_SHA256
    )


pages = {"sso": sign_in, "slo": sign_out, "start-logout": start_sign_out}


class Handler(BaseHTTPRequestHandler):
    def answer(self, status, body="", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())

    def handle_page(self, query):
        name, _, kind = urlsplit(self.path).path.strip("/").partition("/")
        if name == "metadata":
            return self.answer(200, str(entity_descriptor(config())))
        if name == "received":
            return self.answer(200, json.dumps(received))
        if name == "unsigned":
            flags.add("unsigned")
            return self.answer(200)
        if name == "done":
            return self.answer(200, "signed out")
        http = pages[name]({key: values[0] for key, values in query.items()}, kind)
        headers = [pair for pair in http["headers"] if pair[0] == "Location"]
        if headers:
            return self.answer(303, headers=headers)
        return self.answer(200, "".join(http["data"]))

    def do_GET(self):
        self.handle_page(parse_qs(urlsplit(self.path).query))

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.handle_page(parse_qs(body))

    def log_message(self, *_):
        pass


HTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
