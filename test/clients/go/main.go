// The journeys of journeys.ts by gotrue-go; see script.ts for what it is given and prints.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	gotrue "github.com/supabase-community/gotrue-go"
	"github.com/supabase-community/gotrue-go/types"
)

const password, site = "correct horse battery", "http://app.example"

var base = gotrue.New("project", os.Getenv("ANON_KEY")).WithCustomGoTrueURL(os.Getenv("SERVER") + "/auth/v1")

func main() {
	runJourney("sign-up and confirmation", func() { member() })
	runJourney("password, user, metadata", passwordAndMetadata)
	runJourney("refresh and sign-out", refreshAndSignOut)
	runJourney("code by email", codeByEmail)
	runJourney("recovery, new password", recovery)
	runJourney("external provider", externalProvider)
	runJourney("admin", admin)
	runJourney("error codes", errorsAsRead)
}

func passwordAndMetadata() {
	email, _ := member()
	client := signedIn(must(base.SignInWithEmailPassword(email, password)).Session)
	must(client.UpdateUser(types.UpdateUserRequest{Data: map[string]any{"likes": "tea"}}))
	check(must(client.GetUser()).UserMetadata["likes"] == "tea", "the metadata is not there")
}

func refreshAndSignOut() {
	_, session := member()
	newer := must(base.RefreshToken(session.RefreshToken)).Session
	ok(signedIn(newer).Logout())
	_, err := base.RefreshToken(newer.RefreshToken)
	expectError(err, "refresh_token_not_found")
}

func codeByEmail() {
	email := newAddress()
	ok(base.OTP(types.OTPRequest{Email: email, CreateUser: true}))
	session := verify(types.VerificationTypeSignup, email)
	ok(signedIn(session).Reauthenticate())
	nonce, renewed := desk[string]("nonce", "to", email), "a brand new password"
	must(signedIn(session).UpdateUser(types.UpdateUserRequest{Password: &renewed, Nonce: nonce}))
}

func recovery() {
	email, _ := member()
	ok(base.Recover(types.RecoverRequest{Email: email}))
	session, renewed := verify(types.VerificationTypeRecovery, email), "a brand new password"
	must(signedIn(session).UpdateUser(types.UpdateUserRequest{Password: &renewed}))
}

func externalProvider() {
	asked := types.AuthorizeRequest{Provider: types.ProviderGitHub, FlowType: types.FlowImplicit}
	redirect := desk[string]("visit", "url", must(base.Authorize(asked)).AuthorizationURL)
	fragment := must(url.ParseQuery(must(url.Parse(redirect)).Fragment))
	client := base.WithToken(fragment.Get("access_token"))
	check(must(client.GetUser()).AppMetadata["provider"] == "github", "another provider")
}

func admin() {
	api, email, secret := base.WithToken(os.Getenv("SERVICE_KEY")), newAddress(), password
	created := must(api.AdminCreateUser(types.AdminCreateUserRequest{Email: email, Password: &secret, EmailConfirm: true}))
	plan := map[string]any{"plan": "pro"}
	must(api.AdminUpdateUser(types.AdminUpdateUserRequest{UserID: created.ID, AppMetadata: plan}))
	person := must(api.AdminGetUser(types.AdminGetUserRequest{UserID: created.ID}))
	check(person.AppMetadata["plan"] == "pro", "the metadata is not there")
	check(len(must(api.AdminListUsers()).Users) > 0, "nobody is listed")
	must(api.Invite(types.InviteRequest{Email: newAddress()}))
	link := must(api.AdminGenerateLink(types.AdminGenerateLinkRequest{Type: types.LinkTypeMagicLink, Email: email}))
	check(link.HashedToken != "", "the link has no token")
	check(len(must(api.AdminAudit(types.AdminAuditRequest{Page: 1, PerPage: 5})).Logs) > 0, "nothing was recorded")
	ok(api.AdminDeleteUser(types.AdminDeleteUserRequest{UserID: created.ID}))
}

func errorsAsRead() {
	_, err := base.SignInWithEmailPassword(newAddress(), password)
	expectError(err, "invalid_credentials")
	_, err = base.WithToken("no.token.at-all").GetUser()
	expectError(err, "bad_jwt")
	must(base.HealthCheck())
	check(must(base.GetSettings()).External.GitHub, "GitHub is switched on")
}

func member() (string, types.Session) {
	email := newAddress()
	must(base.Signup(types.SignupRequest{Email: email, Password: password}))
	return email, verify(types.VerificationTypeSignup, email)
}

// By the link: the client's own VerifyForUser takes a session for an error, as it waits for status 303.
func verify(kind types.VerificationType, email string) types.Session {
	token := desk[struct{ Token string }]("mail", "to", email).Token
	opened := must(base.Verify(types.VerifyRequest{Type: kind, Token: token, RedirectTo: site}))
	check(opened.Error == "", opened.ErrorDescription)
	return types.Session{AccessToken: opened.AccessToken, RefreshToken: opened.RefreshToken}
}

func signedIn(session types.Session) gotrue.Client { return base.WithToken(session.AccessToken) }

func newAddress() string { return fmt.Sprintf("go-%d@example.com", time.Now().UnixNano()) }

func desk[Answer any](service, name, value string) (answer Answer) {
	query := url.Values{name: {value}}.Encode()
	response := must(http.Get(os.Getenv("DESK") + "/" + service + "?" + query))
	defer response.Body.Close()
	ok(json.NewDecoder(response.Body).Decode(&answer))
	return answer
}

func runJourney(journey string, steps func()) {
	defer func() {
		var failure any
		if reason := recover(); reason != nil {
			failure = fmt.Sprint(reason)
		}
		ok(json.NewEncoder(os.Stdout).Encode(map[string]any{"journey": journey, "error": failure}))
	}()
	steps()
}

func must[Value any](value Value, err error) Value {
	ok(err)
	return value
}

func ok(err error) {
	if err != nil {
		panic(err)
	}
}

func check(isSo bool, otherwise string) {
	if !isSo {
		panic(otherwise)
	}
}

func expectError(err error, code string) {
	check(err != nil && strings.Contains(err.Error(), code), fmt.Sprintf("%s was expected, not %v", code, err))
}
