/** Sign-ins started before the user’s sessions were revoked and completed afterwards. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import type { Session } from '../../../schemas/session.ts'
import { asAdmin } from '../../support/admin.ts'
import {
  describe,
  type ExternalServer,
  unverifiedProfile,
  verifiedProfile,
} from '../../support/external.ts'
import { idTokenServer } from '../../support/id-token-server.ts'
import { fetchUser, nextId } from '../../support/linking.ts'
import { lockUserRow } from '../../support/locked-user.ts'
import { emailAfter, open, pkcePair, redirectParams } from '../../support/messages/mail-journeys.ts'
import { sharedExternalServers } from '../../support/processes/shared-servers.ts'
import { bearer, call, changeUser, statusAndCode } from '../../support/requests.ts'
import {
  autoconfirm,
  confirmedUser,
  newAddress,
  signedIn,
  signUpUser,
} from '../../support/users.ts'

/** The user’s session and a session stolen from the user. */
interface Both {
  own: Session
  stolen: Session
}

type Event = (server: ExternalServer, sessions: Both) => PromiseLike<{ statusCode: number }>

const getSessionId = ({ access_token }: Session) => String(decodeJwt(access_token).session_id)

const admin =
  (method: 'PUT' | 'DELETE', payload?: object): Event =>
  ({ app }, { own }) =>
    asAdmin(app, method, `/admin/users/${own.user.id}`, payload)

const logout =
  (scope: string): Event =>
  ({ app }, { own }) =>
    call(app, `/logout?scope=${scope}`, {}, { token: own.access_token })

/** Actions that revoke all sessions and flows of a user. */
const events: Record<string, Event> = {
  'a new password': ({ app }, { own }) =>
    changeUser(app, own.access_token, { password: 'something new' }),
  'a new password set by an admin': admin('PUT', { password: 'something new' }),
  'a global logout': logout('global'),
  'a logout of other sessions': logout('others'),
  'a logout by an admin': ({ app }, { own }) =>
    asAdmin(app, 'DELETE', `/admin/users/${own.user.id}/sessions`),
  'a ban': async (server, sessions) => {
    const banned = await admin('PUT', { ban_duration: '1h' })(server, sessions)
    // Transactions begun before are not awaited.
    await admin('PUT', { ban_duration: 'none' })(server, sessions)
    return banned
  },
  'a role change': admin('PUT', { role: 'editor' }),
  'a deletion': admin('DELETE'),
  'a soft deletion': admin('DELETE', { should_soft_delete: true }),
}

/** Revokes the stolen session only. */
const deviceSignedOut: Event = ({ app }, { own, stolen }) =>
  app.inject({ method: 'DELETE', url: `/sessions/${getSessionId(stolen)}`, headers: bearer(own) })

suite('revoked sessions', () => {
  const servers = sharedExternalServers()

  suite('flows started by a stolen session', () => {
    for (const [name, happen] of Object.entries({
      ...events,
      'the revocation of the session': deviceSignedOut,
    })) {
      test(`link no identity after ${name}`, async () => {
        const { server, sessions } = await withTwoSessions(servers)
        const id = nextId()
        const back = await startLinking(server, sessions.stolen, id)
        await ended(happen(server, sessions))
        const { query, fragment } = await server.finishSignIn(back)
        assert.equal(fragment.access_token, undefined)
        assert.equal(query.error_code, 'bad_oauth_state')
        assert.equal(await server.findUserBy({ provider: 'github', id }), undefined)
      })

      test(`issue no usable code after ${name}`, async () => {
        const { server, sessions } = await withTwoSessions(servers)
        const { verifier, fields } = pkcePair()
        const { query } = await server.finishSignIn(
          await startLinking(server, sessions.stolen, nextId(), fields),
        )
        assert.ok(query.code, JSON.stringify(query))
        await ended(happen(server, sessions))
        assert.equal(await exchange(server, query.code, verifier), 'flow_state_not_found')
      })
    }

    test('link no identity when the session is revoked during the provider request', async () => {
      const { server, sessions } = await withTwoSessions(servers)
      const { app } = server
      const id = nextId()
      const back = await startLinking(server, sessions.stolen, id)
      const lock = await lockUserRow(app, sessions.own.user.id)
      const change = admin('PUT', { password: 'something new' })
      const event = await lock.queue(1, () => change(server, sessions))
      const late = await lock.queue(2, () => server.finishSignIn(back))
      await lock.release()
      assert.equal((await event.response).statusCode, 200)
      assert.equal((await late.response).query.error_code, 'session_not_found')
      assert.equal(await server.findUserBy({ provider: 'github', id }), undefined)
    })

    test('link no id_token identity when the session is revoked during the request', async (t) => {
      const { app, link } = await idTokenServer(t, autoconfirm)
      const { email, user } = await signUpUser(app)
      const stolen = await signedIn(app, email)
      const lock = await lockUserRow(app, user.id)
      const change = { password: 'something new' }
      const event = await lock.queue(1, () =>
        asAdmin(app, 'PUT', `/admin/users/${user.id}`, change),
      )
      const late = await lock.queue(2, () => link(stolen.access_token))
      await lock.release()
      assert.equal((await event.response).statusCode, 200)
      assert.deepEqual(statusAndCode(await late.response), [403, 'session_not_found'])
    })
  })

  suite('issued auth codes', () => {
    for (const [name, happen] of Object.entries(events)) {
      test(`of a provider are rejected after ${name}`, async () => {
        const { server, sessions } = await withTwoSessions(servers)
        const { verifier, fields } = pkcePair()
        const who = verifiedProfile(sessions.own.user.email, nextId())
        const { query } = await server.signInWith('github', who, { query: fields })
        assert.ok(query.code, JSON.stringify(query))
        await ended(happen(server, sessions))
        assert.equal(await exchange(server, query.code, verifier), 'flow_state_not_found')
      })

      test(`of an emailed link are rejected after ${name}`, async () => {
        const { server, sessions } = await withTwoSessions(servers)
        const { email } = sessions.own.user
        const { verifier, fields } = pkcePair()
        const send = () => call(server.app, '/recover', { email, ...fields })
        const message = await emailAfter(server, email, send)
        const opened = new URL(String((await open(server.app, message)).headers.location))
        const code = opened.searchParams.get('code')
        assert.ok(code, opened.href)
        await ended(happen(server, sessions))
        assert.equal(await exchange(server, code, verifier), 'flow_state_not_found')
      })
    }

    test('of a squatter are rejected once the owner has confirmed the email', async () => {
      const env = { AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' }
      const server = await servers(env)
      const email = newAddress()
      const [squatter, owner] = [pkcePair(), pkcePair()]
      const who = unverifiedProfile(email, nextId())
      const { query } = await server.signInWith('github', who, { query: squatter.fields })
      assert.ok(query.code, JSON.stringify(query))
      await server.mail.waitFor(email)

      const send = () => call(server.app, '/otp', { email, ...owner.fields })
      const opened = redirectParams(await open(server.app, await emailAfter(server, email, send)))

      assert.equal(await exchange(server, query.code, squatter.verifier), 'flow_state_not_found')
      assert.equal(await exchange(server, opened.query.code ?? '', owner.verifier), undefined)
    })

    test('are rejected before their link is opened', async () => {
      const { server, sessions } = await withTwoSessions(servers)
      const { email, id } = sessions.own.user
      const { verifier, fields } = pkcePair()
      await emailAfter(server, email, () => call(server.app, '/recover', { email, ...fields }))
      const { auth_code } = await server.app.db
        .selectFrom('flow_state')
        .select('auth_code')
        .where('user_id', '=', id)
        .executeTakeFirstOrThrow()
      assert.equal(await exchange(server, auth_code ?? '', verifier), 'flow_state_not_found')
    })

    test('are exchanged when nothing was revoked', async () => {
      const { server, sessions } = await withTwoSessions(servers)
      const { verifier, fields } = pkcePair()
      const back = await startLinking(server, sessions.own, nextId(), fields)
      const { query } = await server.finishSignIn(back)
      assert.equal(await exchange(server, query.code ?? '', verifier), undefined)
      assert.equal((await fetchUser(server, sessions.own)).identities?.length, 2)
    })
  })
})

async function withTwoSessions(servers: ReturnType<typeof sharedExternalServers>) {
  const server = await servers()
  const own = await confirmedUser(server)
  const stolen = await signedIn(server.app, own.user.email)
  return { server, sessions: { own, stolen } }
}

/** From /authorize to the provider and back to the parameters of the callback. */
function startLinking(server: ExternalServer, who: Session, id: string, query = {}) {
  describe(server.fakes, 'github', verifiedProfile(`elsewhere-${id}@ex.test`, id))
  const path = '/user/identities/authorize'
  return server.startSignIn('github', { path, query, headers: bearer(who) })
}

async function ended(event: PromiseLike<{ statusCode: number }>): Promise<void> {
  const { statusCode } = await event
  assert.ok(statusCode === 200 || statusCode === 204, String(statusCode))
}

/** The error code of the exchange; undefined for a session. */
async function exchange({ app }: ExternalServer, auth_code: string, code_verifier: string) {
  const payload = { auth_code, code_verifier }
  const response = await app.inject({ method: 'POST', url: '/token?grant_type=pkce', payload })
  return response.json<{ error_code?: string }>().error_code
}
