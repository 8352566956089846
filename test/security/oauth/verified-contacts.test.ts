/** A client may link its own account by a verified address, so only a proof of its holder makes it one. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../../support/admin.ts'
import {
  add,
  authorizeUrl,
  customOnLoopback,
  finishSignIn,
  oidcInput,
} from '../../support/custom-providers/requests.ts'
import { externalServer, unverifiedProfile, verifiedProfile } from '../../support/external.ts'
import { identityId } from '../../support/linking.ts'
import { emailAfter, open } from '../../support/messages/mail-journeys.ts'
import {
  createClient,
  decodeClaims,
  ownConsentPage,
  refreshTokens,
  signInClient,
} from '../../support/oauth-server.ts'
import { shareServers } from '../../support/processes/shared-servers.ts'
import { signInAs, startOpenidProvider } from '../../support/providers/openid-provider.ts'
import { bearer, call, changeUser, getUser } from '../../support/requests.ts'
import { signedResponse } from '../../support/saml/idp.ts'
import { addIdp, begin, post, samlOn } from '../../support/saml/server.ts'
import { addClient, findScimAccount, newOrganization, scimOn } from '../../support/scim/clients.ts'
import type { App } from '../../support/server.ts'
import {
  adminCreatedUser,
  confirmedUser,
  newAddress,
  newNumber,
  password,
  signedIn,
  signUp,
  signUpUser,
} from '../../support/users.ts'

type Session = { access_token: string }

const scope = 'openid profile email phone'

/** What a client is told, which must be the same in all places, and after a refresh. */
async function verifiedClaims(app: App, user: Session) {
  const client = await createClient(app)
  const tokens = await signInClient(app, client, user, { scope })
  const refreshed = (await refreshTokens(app, client, tokens.refresh_token)).json()
  const idToken = decodeClaims(tokens.id_token ?? '')
  const userinfo = async (token: string) =>
    (
      await app.inject({ url: '/oauth/userinfo', headers: { authorization: `Bearer ${token}` } })
    ).json()
  const metadata = [tokens, refreshed].map(
    (each) => decodeClaims(each.access_token).user_metadata as Record<string, unknown>,
  )
  const infos = [await userinfo(tokens.access_token), await userinfo(refreshed.access_token)]
  const emails = [
    idToken.email_verified,
    ...infos.map((info) => info.email_verified ?? false),
    ...infos.map((info) => info.user_metadata.email_verified ?? false),
    ...metadata.map((each) => each.email_verified ?? false),
  ]
  const phones = [
    idToken.phone_number_verified,
    ...infos.map((info) => info.phone_number_verified ?? false),
    ...infos.map((info) => info.phone_verified ?? false),
    ...infos.map((info) => info.user_metadata.phone_verified ?? false),
    ...metadata.map((each) => each.phone_verified ?? false),
  ]
  assert.deepEqual([new Set(emails).size, new Set(phones).size], [1, 1])
  return { email: emails[0], phone: phones[0], metadata: metadata[0] ?? {} }
}

const contacts = async (app: App, user: Session) => {
  const { email, phone } = await verifiedClaims(app, user)
  return { email, phone }
}

suite('email_verified and phone_number_verified', () => {
  const env = {
    ...ownConsentPage,
    ...samlOn,
    ...scimOn,
    AUTH_EXTERNAL_PHONE_ENABLED: 'true',
    AUTH_SMS_AUTOCONFIRM: 'true',
    AUTH_SECURITY_FRESH_PROOF_MAX_AGE: '0',
  }
  const serverFor = shareServers((ending, options) => externalServer(ending, options))
  const assuming = () => serverFor(env)
  const confirming = () => serverFor({ ...env, AUTH_MAILER_AUTOCONFIRM: 'false' })

  test('are false for an autoconfirmed address, until its holder confirms it', async () => {
    const server = await assuming()
    const { app } = server
    const user = await signUpUser(app)
    assert.deepEqual(await contacts(app, user), { email: false, phone: false })
    const message = await emailAfter(server, user.email, () =>
      call(app, '/magiclink', { email: user.email }),
    )
    const { location } = (await open(app, message)).headers
    const access_token = new URLSearchParams(String(location).split('#')[1]).get('access_token')
    const confirmed = { access_token: access_token ?? '' }
    assert.deepEqual(await contacts(app, confirmed), { email: true, phone: false })
  })

  test('are false for an autoconfirmed number', async () => {
    const { app } = await assuming()
    const session = (await signUp(app, { phone: newNumber() })).json()
    assert.deepEqual(await contacts(app, session), { email: false, phone: false })
  })

  test('are false for a number that was autoconfirmed beside a verified address', async () => {
    const server = await confirming()
    const { app } = server
    const user = await confirmedUser(server)
    const phone = newNumber()
    assert.equal((await changeUser(app, user.access_token, { phone })).statusCode, 200)
    assert.deepEqual(await contacts(app, user), { email: true, phone: false })
  })

  test('are true for an address that its holder confirmed by a link', async () => {
    const server = await confirming()
    const { app } = server
    const email = newAddress()
    const message = await emailAfter(server, email, () => signUp(app, { email }))
    await open(app, message)
    const session = await signedIn(app, email)
    assert.deepEqual(await contacts(app, session), { email: true, phone: false })
  })

  test('are true for an address that a provider verified, and false for another one', async () => {
    const { app, signInWith } = await assuming()
    for (const [makeProfile, isVerified] of [
      [verifiedProfile, true],
      [unverifiedProfile, false],
    ] as const) {
      const id = String(Math.floor(Math.random() * 1e9))
      const { fragment } = await signInWith('github', makeProfile(newAddress(), id))
      const session = { access_token: fragment.access_token ?? '' }
      assert.equal((await contacts(app, session)).email, isVerified)
    }
  })

  test('are false for an address that SAML asserts', async () => {
    const { app } = await assuming()
    const known = await addIdp(app, { domains: [`${crypto.randomUUID()}.test`] })
    const { relayState, requestId } = await begin(app, { provider_id: known.id })
    const attributes = { mail: [newAddress()] }
    const response = signedResponse({ idp: known.idp, requestId, attributes })
    const { fragment } = await post(app, response, relayState)
    const session = { access_token: fragment.access_token ?? '' }
    assert.deepEqual(await contacts(app, session), { email: false, phone: false })
  })

  test('are false for an address that the custom provider of an organization asserts', async (t) => {
    const { issuer } = await startOpenidProvider(t, { claimsInIdToken: true, https: true })
    const all = { ...customOnLoopback.env, ...env }
    const { app } = await externalServer(t, { ...customOnLoopback, env: all })
    const organization = await newOrganization(app, 'ex.test')
    await add(app, oidcInput(issuer))
    const body = { name: 'Acme', custom_provider: 'custom:acme' }
    await asAdmin(app, 'POST', `/admin/organizations/${organization}/connections`, body)
    const verifiedFor = async (name: string) => {
      const fields = await signInAs(name, await authorizeUrl(app, 'custom:acme'))
      const { access_token = '' } = await finishSignIn(app, fields)
      return contacts(app, { access_token })
    }
    assert.equal((await verifiedFor('ann')).email, false)
    await signUp(app, { email: 'bert@ex.test' })
    assert.equal((await verifiedFor('bert')).email, false)
  })

  test('are false for such an address that replaces one which the user removed', async (t) => {
    const claims: Record<string, unknown> = {}
    const provider = { claimsInIdToken: true, https: true, variant: { claims } }
    const { issuer } = await startOpenidProvider(t, provider)
    const all = { ...customOnLoopback.env, ...env }
    const { app } = await externalServer(t, { ...customOnLoopback, env: all })
    const organization = await newOrganization(app, 'ex.test')
    await add(app, oidcInput(issuer))
    const body = { name: 'Acme', custom_provider: 'custom:acme' }
    await asAdmin(app, 'POST', `/admin/organizations/${organization}/connections`, body)
    const open = async () => {
      const fields = await signInAs('ann', await authorizeUrl(app, 'custom:acme'))
      const { access_token = '' } = await finishSignIn(app, fields)
      return { access_token, user: (await getUser(app, { access_token })).json() }
    }
    const path = `/admin/users/${(await open()).user.id}`
    await asAdmin(app, 'PUT', path, { email: newAddress(), email_confirm: true })
    claims.email = 'victim@ex.test'
    const { access_token, user } = await open()
    const url = `/user/identities/${identityId(user, 'email')}`
    const removed = await app.inject({ method: 'DELETE', url, headers: bearer({ access_token }) })
    assert.equal(removed.statusCode, 200, removed.body)
    assert.equal((await getUser(app, { access_token })).json().email, 'victim@ex.test')
    assert.equal((await contacts(app, { access_token })).email, false)
  })

  test('are false for an address that a SCIM client asserts, also after it changed it', async () => {
    const { app } = await confirming()
    const domain = `${crypto.randomUUID()}.test`
    const client = await addClient(app, domain)
    const email = `ann@${domain}`
    const { id } = await client.create({ userName: email, emails: [{ value: email }] })
    const { user_id, is_sso_user } = await findScimAccount(app, id)
    assert.equal(is_sso_user, false)
    await asAdmin(app, 'PUT', `/admin/users/${user_id}`, { password })
    assert.equal((await contacts(app, await signedIn(app, email))).email, false)
    const changed = `eve@${domain}`
    const path = 'emails'
    await client.patch(`/Users/${id}`, { op: 'replace', path, value: [{ value: changed }] })
    assert.equal((await findScimAccount(app, id)).email, changed)
    assert.equal((await contacts(app, await signedIn(app, changed))).email, false)
  })

  test('are true for an address that the operator confirmed, and false for one that it set only', async () => {
    const { app } = await confirming()
    const email = newAddress()
    const { id } = await adminCreatedUser(app, { email, password, email_confirm: true })
    assert.equal((await contacts(app, await signedIn(app, email))).email, true)
    const next = newAddress()
    await asAdmin(app, 'PUT', `/admin/users/${id}`, { email: next })
    assert.equal((await contacts(app, await signedIn(app, next))).email, false)
    await asAdmin(app, 'PUT', `/admin/users/${id}`, { email_confirm: true })
    assert.equal((await contacts(app, await signedIn(app, next))).email, true)
  })

  test('are not taken from the metadata, which users write', async () => {
    const { app } = await assuming()
    const user = await signUpUser(app)
    const claimed = { email: 'owner@corp.example', email_verified: true, phone_verified: true }
    const data = { ...claimed, custom_claims: claimed, list: [claimed], verified_email: true }
    assert.equal((await changeUser(app, user.access_token, { data })).statusCode, 200)
    const { email, phone, metadata } = await verifiedClaims(app, user)
    assert.deepEqual([email, phone], [false, false])
    assert.equal(metadata.email, user.email)
    assert.doesNotMatch(JSON.stringify(metadata), /owner@corp|true/)
  })
})
