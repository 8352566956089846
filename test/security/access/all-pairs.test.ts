/**
 * Every pair of a sign-in method that was just added and other access that is attempted with it at once: the new method
 * signs in, and authorizes nothing for a day.
 */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import type { OauthClient } from '../../../schemas/oauth/client.ts'
import type { Session } from '../../../schemas/session.ts'
import { asAdmin } from '../../support/admin.ts'
import { withConsole } from '../../support/admins.ts'
import { externalServer, verifiedProfile } from '../../support/external.ts'
import { addTotp, enrol, everyFactor, stepUp } from '../../support/factors/factors.ts'
import { addPasskey, passkeysOn, send, signInBy } from '../../support/factors/passkeys.ts'
import { link, nextId } from '../../support/linking.ts'
import { nextEmail } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { codeAfter } from '../../support/messages/phone-journeys.ts'
import { startSmsServer } from '../../support/messages/sms-server.ts'
import {
  createClient,
  makePkce,
  ownConsentPage,
  startAuthorization,
} from '../../support/oauth-server.ts'
import { adminOk, as, type Organization, ok } from '../../support/organizations/organizations.ts'
import type { Ending } from '../../support/processes/ending.ts'
import { shareServers } from '../../support/processes/shared-servers.ts'
import { bearer, call, changeUser, statusAndCode, verify } from '../../support/requests.ts'
import type { BuildOptions } from '../../support/server.ts'
import { bodyOf200, confirmedUser, newAddress, newNumber, signedIn } from '../../support/users.ts'

const another = 'another valid password'

type Server = Awaited<ReturnType<typeof startServer>>

/** An owner of the server and of an organization, with a client that they have not used. */
interface Owner {
  session: Session
  organization: Organization
  connectionId: string
  client: OauthClient
}

/** Adds a sign-in method and returns the session that it opens. */
const methods: Record<string, (server: Server, owner: Owner) => Promise<Session>> = {
  async 'a phone'(server, { session }) {
    const phone = newNumber()
    const token = await codeAfter(server, phone, () =>
      changeUser(server.app, session.access_token, { phone }),
    )
    return bodyOf200(await verify(server.app, { type: 'phone_change', phone, token }))
  },
  async 'another email'(server, { session }) {
    const email = newAddress('new')
    bodyOf200(await changeUser(server.app, session.access_token, { email }))
    const token = codeIn(await nextEmail(server, email))
    return bodyOf200(await verify(server.app, { type: 'email_change', email, token }))
  },
  async 'a password'(server, { session }) {
    await age(server)
    const changed = await changeUser(server.app, session.access_token, { password: another })
    const { email } = bodyOf200<{ email: string }>(changed)
    return bodyOf200(
      await call(server.app, '/token?grant_type=password', { email, password: another }),
    )
  },
  async 'a password set by the own admin role'({ app }, { session }) {
    const { id, email } = session.user
    bodyOf200(await send(app, 'PUT', `/admin/users/${id}`, session, { password: another }))
    return bodyOf200(await call(app, '/token?grant_type=password', { email, password: another }))
  },
  async 'a linked identity'(server, { session }) {
    const profile = verifiedProfile(newAddress('github'), nextId())
    await link(server, session, 'github', profile)
    return openedBy(server, profile)
  },
  async 'an identity that is linked by its address'(server, { session }) {
    return openedBy(server, verifiedProfile(session.user.email ?? '', nextId()))
  },
  async 'a passkey'({ app }, { session }) {
    const { device } = await addPasskey(app, session)
    return signInBy(app, device)
  },
  async 'a factor'(server, { session }) {
    const factor = await addTotp(server.app, session)
    await age(server)
    return stepUp(server.app, session, factor, 1)
  },
}

type Attempt = (server: Server, owner: Owner, session: Session) => ReturnType<typeof call>

/** Writes that give access; each is allowed in the session of a recent sign-in by an older method. */
const attempts: Record<string, Attempt> = {
  'a phone': ({ app }, _owner, { access_token }) =>
    changeUser(app, access_token, { phone: newNumber() }),
  'another email': ({ app }, _owner, { access_token }) =>
    changeUser(app, access_token, { email: newAddress() }),
  'a factor': ({ app }, _owner, session) =>
    enrol(app, session, { factor_type: 'totp', friendly_name: nextId() }),
  'a passkey': ({ app }, _owner, session) =>
    send(app, 'POST', '/passkeys/registration/options', session, {}),
  'an identity': ({ app }, _owner, session) =>
    app.inject({
      url: '/user/identities/authorize?provider=gitlab&skip_http_redirect=true',
      headers: bearer(session),
    }),
  'a username': ({ app }, _owner, session) =>
    send(app, 'PUT', '/user/username', session, { username: `u${nextId()}name` }),
  async 'an OAuth consent'({ app }, { client }, session) {
    const { challenge: code_challenge } = makePkce()
    const pkce = { code_challenge, code_challenge_method: 'S256' }
    const id = await startAuthorization(app, client, pkce)
    await call(app, `/oauth/authorizations/${id}`, undefined, { token: session.access_token })
    const url = `/oauth/authorizations/${id}/consent`
    return call(app, url, { action: 'approve' }, { token: session.access_token })
  },
  'an invitation': ({ app }, { organization: { id } }, session) =>
    as(app, session, `POST /organizations/${id}/invitations`, {
      email: newAddress(),
      role: 'owner',
    }),
  'a domain': ({ app }, { organization: { id } }, session) =>
    as(app, session, `POST /organizations/${id}/domains`, { domain: `d${nextId()}.example.org` }),
  'an admin': ({ app }, _owner, session) =>
    send(app, 'POST', '/admin/admins', session, { email: newAddress(), role: 'owner' }),
  'a password by the admin API': ({ app }, _owner, session) =>
    send(app, 'PUT', `/admin/users/${session.user.id}`, session, { password: another }),
  'a user with an admin role': ({ app }, _owner, session) =>
    send(app, 'POST', '/admin/users', session, { email: newAddress(), role: 'service_role' }),
  'a link to another account': ({ app }, _owner, session) =>
    send(app, 'POST', '/admin/generate_link', session, { type: 'magiclink', email: newAddress() }),
  'an invited user': ({ app }, _owner, session) =>
    send(app, 'POST', '/invite', session, { email: newAddress() }),
  'the end of a ban': ({ app }, _owner, session) =>
    send(app, 'POST', '/admin/users/bulk', session, { action: 'unban', ids: [session.user.id] }),
  'a restored organization': ({ app }, { organization: { id } }, session) =>
    send(app, 'POST', `/admin/organizations/${id}/restore`, session),
  'the default of a setting': ({ app }, _owner, session) =>
    send(app, 'DELETE', '/admin/settings/AUTH_MAILER_AUTOCONFIRM', session),
  'an OAuth client': ({ app }, _owner, session) =>
    send(app, 'POST', '/admin/oauth/clients', session, {
      client_name: 'App',
      redirect_uris: ['https://app.example/callback'],
    }),
  'a SCIM token': ({ app }, { connectionId }, session) =>
    send(app, 'POST', `/admin/scim/connections/${connectionId}/tokens`, session, { name: 'T' }),
  'a member': async ({ app }, { organization: { id } }, session) =>
    send(app, 'POST', `/admin/organizations/${id}/members`, session, {
      user_id: session.user.id,
      role: 'owner',
    }),
}

suite('new access', () => {
  const start = shareServers(startServer)
  let server: Server
  before(async () => {
    server = await start()
  })

  test('is allowed after a recent sign-in by an older method', async () => {
    const owner = await newOwner(server)
    for (const [name, attempt] of Object.entries(attempts)) {
      const [, code] = statusAndCode(await attempt(server, owner, owner.session))
      assert.notEqual(code, 'reauthentication_needed', name)
      assert.notEqual(code, 'insufficient_aal', name)
    }
  })

  test('is refused in a session of three days ago', async () => {
    const owner = await newOwner(server)
    await age(server)
    for (const [name, attempt] of Object.entries(attempts)) {
      const refused = statusAndCode(await attempt(server, owner, owner.session))
      assert.deepEqual(refused, [400, 'reauthentication_needed'], name)
    }
  })

  for (const [added, add] of Object.entries(methods)) {
    test(`is refused to a session opened by ${added} of the same day`, async () => {
      const owner = await newOwner(server)
      const opened = await add(server, owner)
      for (const [name, attempt] of Object.entries(attempts)) {
        const refused = statusAndCode(await attempt(server, owner, opened))
        assert.deepEqual(refused, [400, 'reauthentication_needed'], name)
      }
    })
  }

  test('is attempted in every pair', () => {
    assert.equal(Object.keys(methods).length * Object.keys(attempts).length, 160)
  })
})

async function startServer(t: Ending, { env }: BuildOptions) {
  const sms = await startSmsServer()
  t.after(sms.stop)
  const settings = {
    ...everyFactor,
    ...passkeysOn,
    ...withConsole,
    ...ownConsentPage,
    AUTH_MAILER_AUTOCONFIRM: 'false',
    AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED: 'false',
    AUTH_ORGANIZATIONS_ENABLED: 'true',
    AUTH_EXPERIMENTAL_SCIM_ENABLED: 'true',
    AUTH_USERNAMES_ENABLED: 'true',
    ...sms.env,
    ...env,
  }
  return { ...(await externalServer(t, { env: settings })), sms }
}

async function newOwner(server: Server): Promise<Owner> {
  const { app } = server
  const { user } = await confirmedUser(server)
  const added = await asAdmin(app, 'POST', '/admin/admins', { user_id: user.id, role: 'owner' })
  assert.equal(added.statusCode, 201, added.body)
  const session = await signedIn(app, user.email ?? '')
  const name = { name: 'Acme', slug: `acme-${nextId()}` }
  const organization = await ok<Organization>(app, session, 'POST /organizations', name)
  const connection = await adminOk<{ id: string }>(app, 'POST /admin/scim/connections', {
    name: `Directory ${nextId()}`,
    organization_id: organization.id,
  })
  return { session, organization, connectionId: connection.id, client: await createClient(app) }
}

/** Every sign-in so far, as if it were three days ago. */
async function age({ app }: Server): Promise<void> {
  await app.pool.query(
    `update auth.mfa_amr_claims set updated_at = updated_at - interval '3 days', created_at = created_at - interval '3 days'`,
  )
  await app.pool.query(`update auth.sessions set created_at = created_at - interval '3 days'`)
}

async function openedBy(
  server: Server,
  profile: ReturnType<typeof verifiedProfile>,
): Promise<Session> {
  const { fragment } = await server.signInWith('github', profile)
  const { access_token = '', refresh_token = '' } = fragment
  const user = bodyOf200<Session['user']>(
    await call(server.app, '/user', undefined, { token: access_token }),
  )
  return { access_token, refresh_token, token_type: 'bearer', expires_in: 1, expires_at: 1, user }
}
