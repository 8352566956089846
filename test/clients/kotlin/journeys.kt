// The journeys of journeys.ts by supabase-kt; see script.ts for what it is given and prints.
import io.github.jan.supabase.auth.Auth
import io.github.jan.supabase.auth.FlowType
import io.github.jan.supabase.auth.OtpType
import io.github.jan.supabase.auth.admin.LinkType
import io.github.jan.supabase.auth.admin.generateLinkFor
import io.github.jan.supabase.auth.auth
import io.github.jan.supabase.auth.exception.AuthWeakPasswordException
import io.github.jan.supabase.auth.mfa.AuthenticatorAssuranceLevel
import io.github.jan.supabase.auth.mfa.FactorType
import io.github.jan.supabase.auth.minimalConfig
import io.github.jan.supabase.auth.providers.Github
import io.github.jan.supabase.auth.providers.builtin.Email
import io.github.jan.supabase.auth.providers.builtin.OTP
import io.github.jan.supabase.createSupabaseClient
import io.github.jan.supabase.exceptions.RestException
import io.github.jan.supabase.logging.LogLevel
import io.ktor.http.Url
import java.net.URI
import java.net.URLEncoder
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse.BodyHandlers
import kotlin.random.Random
import kotlin.system.exitProcess
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import kotlinx.serialization.json.put

const val PASSWORD = "correct horse battery"
const val RENEWED = "a brand new password"
const val SITE = "http://app.example"

val journeys: Map<String, suspend () -> Unit> = mapOf(
    "sign-up and confirmation" to ::signUp,
    "password, user, metadata" to ::passwordAndMetadata,
    "refresh and sign-out" to ::refreshAndSignOut,
    "code by email" to ::codeByEmail,
    "recovery, new password" to ::recovery,
    "email change" to ::newEmail,
    "phone" to ::phone,
    "anonymous user" to ::anonymous,
    "external provider" to ::externalProvider,
    "linked identities" to ::linkedIdentities,
    "second factor" to ::secondFactor,
    "admin" to ::admin,
    "error codes" to ::errors,
    "disabled features" to ::switchedOff,
)

fun main() {
    for ((journey, runJourney) in journeys) {
        val failure = runCatching { runBlocking { runJourney() } }.exceptionOrNull()
        val error = failure?.let { JsonPrimitive(it.stackTraceToString()) } ?: JsonNull
        println(buildJsonObject { put("journey", journey); put("error", error) })
    }
    // The clients' threads would go on.
    exitProcess(0)
}

suspend fun signUp() {
    val (email, client) = newAddress() to newClient()
    val user = client.signUpWith(Email, redirectUrl = SITE) {
        this.email = email
        password = PASSWORD
    }
    check(user?.email == email && client.currentSessionOrNull() == null)
    client.resendEmail(OtpType.Email.SIGNUP, email)
    nextMail(email)
    val late = nextMail(email)
    client.verifyEmailOtp(OtpType.Email.SIGNUP, email = email, token = late.text("code"))
    check(client.currentUserOrNull()?.email == email)
}

suspend fun passwordAndMetadata() {
    val email = member().first
    val client = newClient()
    client.signInWith(Email) {
        this.email = email
        password = PASSWORD
    }
    client.updateUser { data = buildJsonObject { put("likes", "tea") } }
    val user = client.retrieveUserForCurrentSession()
    check(user.userMetadata?.text("likes") == "tea")
}

suspend fun refreshAndSignOut() {
    val client = member().second
    client.refreshCurrentSession()
    val last = client.currentSessionOrNull()!!.refreshToken
    client.signOut()
    check(client.currentSessionOrNull() == null)
    expectError("refresh_token_not_found") { client.refreshSession(last) }
}

suspend fun codeByEmail() {
    val (email, client) = newAddress() to newClient(FlowType.IMPLICIT)
    client.signInWith(OTP) { this.email = email }
    client.verifyEmailOtp(OtpType.Email.EMAIL, email = email, token = nextMail(email).text("code"))
    client.reauthenticate()
    val code = desk("nonce", "to" to email).jsonPrimitive.content
    client.updateUser {
        password = RENEWED
        nonce = code
    }
}

suspend fun recovery() {
    val email = member().first
    val client = newClient()
    client.resetPasswordForEmail(email, redirectUrl = SITE)
    exchange(client, desk("open", "link" to nextMail(email).text("link")))
    client.updateUser { password = RENEWED }
    newClient().signInWith(Email) {
        this.email = email
        password = RENEWED
    }
}

suspend fun newEmail() {
    val (email, client) = member()
    val wanted = newAddress()
    client.updateUser { this.email = wanted }
    for (address in listOf(email, wanted)) desk("open", "link" to nextMail(address).text("link"))
    check(client.retrieveUserForCurrentSession().email == wanted)
}

suspend fun phone() {
    val (number, client) = newNumber() to newClient()
    client.signInWith(OTP) { phone = number }
    val code = desk("text", "phone" to number).jsonPrimitive.content
    client.verifyPhoneOtp(OtpType.Phone.SMS, number, code)
    check(client.currentUserOrNull()?.phone == number)
}

suspend fun anonymous() {
    val client = newClient()
    client.signInAnonymously(data = buildJsonObject { put("a", 1) })
    check(client.retrieveUserForCurrentSession().identities.orEmpty().isEmpty())
}

suspend fun externalProvider() {
    val client = newClient()
    val session = exchange(client, desk("visit", "url" to client.getOAuthUrl(Github, redirectUrl = SITE)))
    check(session.providerToken == "at1")
}

suspend fun linkedIdentities() {
    val client = member().second
    val url = client.linkIdentity(Github, redirectUrl = SITE) { automaticallyOpenUrl = false }
    exchange(client, desk("visit", "url" to url!!))
    val added = client.currentIdentitiesOrNull().orEmpty().single { it.provider == "github" }
    client.unlinkIdentity(added.identityId!!)
    check(client.retrieveUserForCurrentSession().identities.orEmpty().none { it.provider == "github" })
}

suspend fun secondFactor() {
    val (email, client) = member()
    val enrolled = client.mfa.enroll(FactorType.TOTP, friendlyName = "App")
    val secret = enrolled.data.secret
    val challenge = client.mfa.createChallenge(enrolled.id)
    client.mfa.verifyChallenge(enrolled.id, challenge.id, totp(secret))
    val other = newClient()
    other.signInWith(Email) {
        this.email = email
        password = PASSWORD
    }
    check(other.mfa.getAuthenticatorAssuranceLevel().next == AuthenticatorAssuranceLevel.AAL2)
    other.mfa.createChallengeAndVerify(enrolled.id, totp(secret, ahead = 1))
    check(other.mfa.getAuthenticatorAssuranceLevel().current == AuthenticatorAssuranceLevel.AAL2)
    check(other.mfa.retrieveFactorsForCurrentUser().single().isVerified)
    other.mfa.unenroll(enrolled.id)
}

suspend fun admin() {
    val server = newClient()
    server.importAuthToken(System.getenv("SERVICE_KEY"))
    val (api, email) = server.admin to newAddress()
    val id = api.createUserWithEmail {
        this.email = email
        password = PASSWORD
        autoConfirm = true
    }.id
    api.updateUserById(id) { appMetadata = buildJsonObject { put("plan", "pro") } }
    check(api.retrieveUserById(id).appMetadata?.text("plan") == "pro")
    check(api.retrieveUsers(page = 1, perPage = 5).isNotEmpty())
    api.inviteUserByEmail(newAddress())
    val (link) = api.generateLinkFor(LinkType.MagicLink) { this.email = email }
    val client = newClient()
    client.verifyEmailOtp(OtpType.Email.MAGIC_LINK, tokenHash = Url(link).parameters["token"]!!)
    val enrolled = client.mfa.enroll(FactorType.TOTP)
    check(api.retrieveFactors(id).single().id == enrolled.id)
    api.deleteFactor(id, enrolled.id)
    api.signOut(client.currentAccessTokenOrNull()!!)
    api.deleteUser(id)
}

suspend fun errors() {
    val client = newClient()
    expectError("invalid_credentials") {
        client.signInWith(Email) {
            email = newAddress()
            password = PASSWORD
        }
    }
    val weak = runCatching {
        client.signUpWith(Email) {
            email = newAddress()
            password = "short"
        }
    }.exceptionOrNull()
    check(weak is AuthWeakPasswordException && weak.reasons == listOf("length")) { "$weak" }
    expectError("bad_jwt") { client.retrieveUser("no.token.at-all") }
}

suspend fun switchedOff() {
    expectError("sso_provider_not_found") { newClient().retrieveSSOUrl { domain = "ex.test" } }
}

fun newClient(flow: FlowType = FlowType.PKCE): Auth =
    createSupabaseClient(System.getenv("SERVER"), System.getenv("ANON_KEY")) {
        defaultLogLevel = LogLevel.NONE
        install(Auth) {
            minimalConfig()
            flowType = flow
        }
    }.auth

suspend fun member(): Pair<String, Auth> {
    val (address, client) = newAddress() to newClient()
    client.signUpWith(Email) {
        email = address
        password = PASSWORD
    }
    client.verifyEmailOtp(OtpType.Email.EMAIL, email = address, token = nextMail(address).text("code"))
    return address to client
}

suspend fun exchange(client: Auth, redirect: JsonElement) =
    client.exchangeCodeForSession(Url(redirect.jsonPrimitive.content).parameters["code"]!!)

suspend fun expectError(code: String, act: suspend () -> Unit) {
    val failure = runCatching { act() }.exceptionOrNull()
    check(failure is RestException && failure.error == code) { "$code was expected, not $failure" }
}

fun newAddress() = "kotlin-${Random.nextLong().toULong()}@example.com"

fun newNumber() = "1555${Random.nextInt(1_000_000, 9_999_999)}"

fun nextMail(to: String) = desk("mail", "to" to to)

fun totp(secret: String, ahead: Int = 0) =
    desk("totp", "secret" to secret, "ahead" to "$ahead").jsonPrimitive.content

fun JsonElement.text(name: String) = jsonObject[name]?.jsonPrimitive?.content.orEmpty()

private val http = HttpClient.newHttpClient()

fun desk(service: String, vararg asked: Pair<String, String>): JsonElement {
    val query = asked.joinToString("&") { (name, value) -> "$name=${URLEncoder.encode(value, Charsets.UTF_8)}" }
    val request = HttpRequest.newBuilder(URI("${System.getenv("DESK")}/$service?$query")).build()
    val answer = http.send(request, BodyHandlers.ofString())
    check(answer.statusCode() == 200) { answer.body() }
    return Json.parseToJsonElement(answer.body())
}
