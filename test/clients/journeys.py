"""The journeys of journeys.ts by supabase-auth; see script.ts for what it is given and prints."""

import json
import os
import traceback
import urllib.parse
import urllib.request
import uuid

from supabase_auth import SyncGoTrueClient
from supabase_auth.errors import AuthApiError, AuthWeakPasswordError

SERVER, DESK = os.environ["SERVER"], os.environ["DESK"]
PASSWORD = "correct horse battery"
SITE = "http://app.example"


def desk(service, **asked):
    query = urllib.parse.urlencode(asked)
    with urllib.request.urlopen(f"{DESK}/{service}?{query}") as answer:
        return json.load(answer)


def new_client(key="ANON_KEY", flow="pkce"):
    headers = {"apikey": os.environ[key], "Authorization": f"Bearer {os.environ[key]}"}
    return SyncGoTrueClient(
        url=f"{SERVER}/auth/v1", headers=headers, auto_refresh_token=False, flow_type=flow
    )


def new_address():
    return f"py-{uuid.uuid4().hex[:12]}@example.com"


def new_number():
    return f"1555{uuid.uuid4().int % 10**7:07}"


def code_in(address):
    return urllib.parse.parse_qs(urllib.parse.urlsplit(address).query)["code"][0]


def exchange(client, address):
    return client.exchange_code_for_session({"auth_code": code_in(address)})


def member():
    email, client = new_address(), new_client()
    client.sign_up({"email": email, "password": PASSWORD})
    code = desk("mail", to=email)["code"]
    client.verify_otp({"email": email, "token": code, "type": "email"})
    return email, client


def sign_up():
    email, client = new_address(), new_client()
    answer = client.sign_up(
        {"email": email, "password": PASSWORD, "options": {"email_redirect_to": SITE}}
    )
    assert answer.session is None
    redirect = desk("open", link=desk("mail", to=email)["link"])
    assert exchange(client, redirect).user.email == email
    # The client repeats a mail without its PKCE challenge, so what comes is for a code.
    late, again = new_address(), new_client()
    again.sign_up({"email": late, "password": PASSWORD})
    desk("mail", to=late)
    again.resend({"type": "signup", "email": late})
    code = desk("mail", to=late)["code"]
    again.verify_otp({"email": late, "token": code, "type": "signup"})


def password_and_metadata():
    email, _ = member()
    client = new_client()
    events = []
    client.on_auth_state_change(lambda event, session: events.append(event))
    client.sign_in_with_password({"email": email, "password": PASSWORD})
    client.update_user({"data": {"likes": "tea"}})
    assert client.get_user().user.user_metadata["likes"] == "tea"
    assert client.get_claims()["claims"]["email"] == email
    assert "SIGNED_IN" in events


def refresh_and_sign_out():
    _, client = member()
    session = client.refresh_session().session
    other = new_client()
    other.set_session(session.access_token, session.refresh_token)
    client.sign_out()
    expect_error(lambda: other.refresh_session(), "refresh_token_not_found")


def code_by_email():
    email, client = new_address(), new_client(flow="implicit")
    client.sign_in_with_otp({"email": email})
    code = desk("mail", to=email)["code"]
    client.verify_otp({"email": email, "token": code, "type": "email"})
    client.reauthenticate()
    client.update_user({"password": "a brand new password", "nonce": desk("nonce", to=email)})


def recovery():
    email, _ = member()
    client = new_client()
    client.reset_password_for_email(email, {"redirect_to": SITE})
    exchange(client, desk("open", link=desk("mail", to=email)["link"]))
    client.update_user({"password": "a brand new password"})
    new_client().sign_in_with_password({"email": email, "password": "a brand new password"})


def new_email():
    email, client = member()
    wanted = new_address()
    client.update_user({"email": wanted})
    for address in (email, wanted):
        desk("open", link=desk("mail", to=address)["link"])
    assert client.get_user().user.email == wanted


def phone():
    number, client = new_number(), new_client()
    client.sign_in_with_otp({"phone": number})
    code = desk("text", phone=number)
    answer = client.verify_otp({"phone": number, "token": code, "type": "sms"})
    assert answer.user.phone == number


def anonymous():
    assert new_client().sign_in_anonymously().user.is_anonymous


def external_provider():
    client = new_client()
    options = {"redirect_to": SITE}
    started = client.sign_in_with_oauth({"provider": "github", "options": options})
    session = exchange(client, desk("visit", url=started.url)).session
    assert session.provider_token == "at1"


def id_token():
    token = desk("id_token", sub="kim", email="kim@ex.test")
    answer = new_client().sign_in_with_id_token({"provider": "keycloak", "token": token})
    assert answer.user.email == "kim@ex.test"


def linked_identities():
    _, client = member()
    started = client.link_identity({"provider": "github", "options": {"redirect_to": SITE}})
    exchange(client, desk("visit", url=started.url))
    added = [one for one in client.get_user_identities().identities if one.provider == "github"]
    client.unlink_identity(added[0])


def second_factor():
    email, client = member()
    enrolled = client.mfa.enroll({"factor_type": "totp", "friendly_name": "App"})
    secret = enrolled.totp.secret
    challenge = client.mfa.challenge({"factor_id": enrolled.id})
    proof = {"factor_id": enrolled.id, "challenge_id": challenge.id}
    client.mfa.verify({**proof, "code": desk("totp", secret=secret)})
    other = new_client()
    other.sign_in_with_password({"email": email, "password": PASSWORD})
    assert other.mfa.get_authenticator_assurance_level().next_level == "aal2"
    code = desk("totp", secret=secret, ahead=1)
    other.mfa.challenge_and_verify({"factor_id": enrolled.id, "code": code})
    assert len(other.mfa.list_factors().totp) == 1
    other.mfa.unenroll({"factor_id": enrolled.id})


def admin():
    api = new_client("SERVICE_KEY").admin
    email = new_address()
    made = api.create_user({"email": email, "password": PASSWORD, "email_confirm": True}).user
    api.update_user_by_id(made.id, {"app_metadata": {"plan": "pro"}})
    assert api.get_user_by_id(made.id).user.app_metadata["plan"] == "pro"
    assert api.list_users(page=1, per_page=5)
    api.invite_user_by_email(new_address())
    link = api.generate_link({"type": "magiclink", "email": email})
    client = new_client()
    proof = {"type": "magiclink", "token_hash": link.properties.hashed_token}
    session = client.verify_otp(proof).session
    enrolled = client.mfa.enroll({"factor_type": "totp"})
    assert len(api.mfa.list_factors({"user_id": made.id})) == 1
    api.mfa.delete_factor({"user_id": made.id, "id": enrolled.id})
    api.sign_out(session.access_token)
    api.delete_user(made.id)


def errors():
    client = new_client()
    wrong = {"email": new_address(), "password": PASSWORD}
    expect_error(lambda: client.sign_in_with_password(wrong), "invalid_credentials")
    try:
        client.sign_up({"email": new_address(), "password": "short"})
        raise AssertionError("a short password was taken")
    except AuthWeakPasswordError as error:
        assert error.reasons == ["length"], error.reasons
    expect_error(lambda: client.get_user("no.token.at-all"), "bad_jwt")


def switched_off():
    expect_error(lambda: new_client().sign_in_with_sso({"domain": "ex.test"}), "sso_provider_not_found")


def expect_error(act, code):
    try:
        act()
    except AuthApiError as error:
        assert error.code == code, error.code
        return
    raise AssertionError(f"{code} was expected")


JOURNEYS = {
    "sign-up and confirmation": sign_up,
    "password, user, metadata": password_and_metadata,
    "refresh and sign-out": refresh_and_sign_out,
    "code by email": code_by_email,
    "recovery, new password": recovery,
    "email change": new_email,
    "phone": phone,
    "anonymous user": anonymous,
    "external provider": external_provider,
    "ID token": id_token,
    "linked identities": linked_identities,
    "second factor": second_factor,
    "admin": admin,
    "error codes": errors,
    "disabled features": switched_off,
}

for journey, runJourney in JOURNEYS.items():
    try:
        runJourney()
        failure = None
    except Exception:
        failure = traceback.format_exc()
    print(json.dumps({"journey": journey, "error": failure}), flush=True)
