/** Sign-ins that were begun before somebody's sessions ended, and come back afterwards. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import type { Session } from '../../schemas/session.ts'
import { asAdmin } from '../support/admin.ts'
import { describe, type ExternalServer, proven, unproven } from '../support/external.ts'
import { holdPerson } from '../support/held-person.ts'
import { idTokenServer } from '../support/id-token-server.ts'
import { nextId, userOf } from '../support/linking.ts'
import { landing, mailAfter, open, pkcePair } from '../support/mail-journeys.ts'
import { autoconfirm, confirmedPerson, newAddress, newPerson, signedIn } from '../support/people.ts'
import { bearer, call, changeUser, outcomeOf } from '../support/requests.ts'
import { sharedExternalServers } from '../support/shared-servers.ts'

/** The owner's session, and the one that somebody else has of theirs. */
interface Both {
  own: Session
  stolen: Session
}

type Event = (server: ExternalServer, sessions: Both) => PromiseLike<{ statusCode: number }>

const sessionOf = ({ access_token }: Session) => String(decodeJwt(access_token).session_id)

const admin =
  (method: 'PUT' | 'DELETE', payload?: object): Event =>
  ({ app }, { own }) =>
    asAdmin(app, method, `/admin/users/${own.user.id}`, payload)

const logout =
  (scope: string): Event =>
  ({ app }, { own }) =>
    call(app, `/logout?scope=${scope}`, {}, { token: own.access_token })

/** What ends all that is under way for a person. */
const events: Record<string, Event> = {
  'a new password': ({ app }, { own }) =>
    changeUser(app, own.access_token, { password: 'something new' }),
  'a new password by an admin': admin('PUT', { password: 'something new' }),
  'a global logout': logout('global'),
  'a logout of the others': logout('others'),
  'a logout by an admin': ({ app }, { own }) =>
    asAdmin(app, 'DELETE', `/admin/users/${own.user.id}/sessions`),
  'a ban': async (server, sessions) => {
    const banned = await admin('PUT', { ban_duration: '1h' })(server, sessions)
    // What was begun before is not waited out.
    await admin('PUT', { ban_duration: 'none' })(server, sessions)
    return banned
  },
  'another role': admin('PUT', { role: 'editor' }),
  'a deletion': admin('DELETE'),
  'a soft deletion': admin('DELETE', { should_soft_delete: true }),
}

/** Ends the stolen session alone. */
const deviceSignedOut: Event = ({ app }, { own, stolen }) =>
  app.inject({ method: 'DELETE', url: `/sessions/${sessionOf(stolen)}`, headers: bearer(own) })

suite('what a stolen session began', () => {
  const servers = sharedExternalServers()
  for (const [name, happen] of Object.entries({ ...events, 'its own end': deviceSignedOut })) {
    test(`a way to sign in is not added after ${name}`, async () => {
      const { server, sessions } = await withTwoSessions(servers)
      const id = nextId()
      const back = await startLinking(server, sessions.stolen, id)
      await ended(happen(server, sessions))
      const { query, fragment } = await server.comeBack(back)
      assert.equal(fragment.access_token, undefined)
      assert.equal(query.error_code, 'bad_oauth_state')
      assert.equal(await server.personWith({ provider: 'github', id }), undefined)
    })

    test(`the code for it opens no session after ${name}`, async () => {
      const { server, sessions } = await withTwoSessions(servers)
      const { verifier, fields } = pkcePair()
      const { query } = await server.comeBack(
        await startLinking(server, sessions.stolen, nextId(), fields),
      )
      assert.ok(query.code, JSON.stringify(query))
      await ended(happen(server, sessions))
      assert.equal(await exchange(server, query.code, verifier), 'flow_state_not_found')
    })
  }

  test('a way to sign in is not added when the session ends while the provider is asked', async () => {
    const { server, sessions } = await withTwoSessions(servers)
    const { app } = server
    const id = nextId()
    const back = await startLinking(server, sessions.stolen, id)
    const held = await holdPerson(app, sessions.own.user.id)
    const change = admin('PUT', { password: 'something new' })
    const event = await held.queue(1, () => change(server, sessions))
    const late = await held.queue(2, () => server.comeBack(back))
    await held.release()
    assert.equal((await event.answer).statusCode, 200)
    assert.equal((await late.answer).query.error_code, 'session_not_found')
    assert.equal(await server.personWith({ provider: 'github', id }), undefined)
  })

  test('nor by an id_token', async (t) => {
    const { app, link } = await idTokenServer(t, autoconfirm)
    const { email, user } = await newPerson(app)
    const stolen = await signedIn(app, email)
    const held = await holdPerson(app, user.id)
    const change = { password: 'something new' }
    const event = await held.queue(1, () => asAdmin(app, 'PUT', `/admin/users/${user.id}`, change))
    const late = await held.queue(2, () => link(stolen.access_token))
    await held.release()
    assert.equal((await event.answer).statusCode, 200)
    assert.deepEqual(outcomeOf(await late.answer), [403, 'session_not_found'])
  })
})

suite('a code that was issued', () => {
  const servers = sharedExternalServers()
  for (const [name, happen] of Object.entries(events)) {
    test(`by a provider opens no session after ${name}`, async () => {
      const { server, sessions } = await withTwoSessions(servers)
      const { verifier, fields } = pkcePair()
      const who = proven(sessions.own.user.email, nextId())
      const { query } = await server.signInWith('github', who, { query: fields })
      assert.ok(query.code, JSON.stringify(query))
      await ended(happen(server, sessions))
      assert.equal(await exchange(server, query.code, verifier), 'flow_state_not_found')
    })

    test(`by a mailed link opens no session after ${name}`, async () => {
      const { server, sessions } = await withTwoSessions(servers)
      const { email } = sessions.own.user
      const { verifier, fields } = pkcePair()
      const ask = () => call(server.app, '/recover', { email, ...fields })
      const message = await mailAfter(server, email, ask)
      const opened = new URL(String((await open(server.app, message)).headers.location))
      const code = opened.searchParams.get('code')
      assert.ok(code, opened.href)
      await ended(happen(server, sessions))
      assert.equal(await exchange(server, code, verifier), 'flow_state_not_found')
    })
  }

  test('to whoever squatted an address opens nothing once its owner has proven it', async () => {
    const env = { AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' }
    const server = await servers(env)
    const email = newAddress()
    const [squatter, owner] = [pkcePair(), pkcePair()]
    const who = unproven(email, nextId())
    const { query } = await server.signInWith('github', who, { query: squatter.fields })
    assert.ok(query.code, JSON.stringify(query))
    await server.mail.waitFor(email)

    const ask = () => call(server.app, '/otp', { email, ...owner.fields })
    const opened = landing(await open(server.app, await mailAfter(server, email, ask)))

    assert.equal(await exchange(server, query.code, squatter.verifier), 'flow_state_not_found')
    assert.equal(await exchange(server, opened.query.code ?? '', owner.verifier), undefined)
  })

  test('is none before its link is opened', async () => {
    const { server, sessions } = await withTwoSessions(servers)
    const { email, id } = sessions.own.user
    const { verifier, fields } = pkcePair()
    await mailAfter(server, email, () => call(server.app, '/recover', { email, ...fields }))
    const { auth_code } = await server.app.db
      .selectFrom('flow_state')
      .select('auth_code')
      .where('user_id', '=', id)
      .executeTakeFirstOrThrow()
    assert.equal(await exchange(server, auth_code ?? '', verifier), 'flow_state_not_found')
  })

  test('opens one while nothing has happened', async () => {
    const { server, sessions } = await withTwoSessions(servers)
    const { verifier, fields } = pkcePair()
    const back = await startLinking(server, sessions.own, nextId(), fields)
    const { query } = await server.comeBack(back)
    assert.equal(await exchange(server, query.code ?? '', verifier), undefined)
    assert.equal((await userOf(server, sessions.own)).identities?.length, 2)
  })
})

async function withTwoSessions(servers: ReturnType<typeof sharedExternalServers>) {
  const server = await servers()
  const own = await confirmedPerson(server)
  const stolen = await signedIn(server.app, own.user.email)
  return { server, sessions: { own, stolen } }
}

/** From our door to the provider's, and as far back as the parameters of the callback. */
function startLinking(server: ExternalServer, who: Session, id: string, query = {}) {
  describe(server.fakes, 'github', proven(`elsewhere-${id}@ex.test`, id))
  const path = '/user/identities/authorize'
  return server.goTo('github', { path, query, headers: bearer(who) })
}

async function ended(event: PromiseLike<{ statusCode: number }>): Promise<void> {
  const { statusCode } = await event
  assert.ok(statusCode === 200 || statusCode === 204, String(statusCode))
}

/** What the exchange is refused with; undefined for a session. */
async function exchange({ app }: ExternalServer, auth_code: string, code_verifier: string) {
  const payload = { auth_code, code_verifier }
  const response = await app.inject({ method: 'POST', url: '/token?grant_type=pkce', payload })
  return response.json<{ error_code?: string }>().error_code
}
