/** What is asked for, answered or exchanged while its session ends: it belongs to nobody, and nobody waits for ever. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import { providerEnv } from '../support/external.ts'
import { addTotp, answer, challenge, claimsOf, everyFactor, send } from '../support/factors.ts'
import { holdDeletion, holdEndOfSession, holdPerson, holdSession } from '../support/held-person.ts'
import { legacySession } from '../support/legacy-session.ts'
import { askToRegister, finishRegistration, newDevice, passkeysOn } from '../support/passkeys.ts'
import { autoconfirm, newPerson } from '../support/people.ts'
import { outcomeOf, refresh } from '../support/requests.ts'
import { type App, build } from '../support/server.ts'

type Send = () => ReturnType<typeof send>

/** What is asked for, made ready to be sent. */
const challenges: Record<string, (app: App, person: Session) => Promise<Send>> = {
  'a challenge of a second factor': async (app, person) => {
    const { id } = await addTotp(app, person)
    return () => send(app, 'POST', `/factors/${id}/challenge`, person)
  },
  'a challenge of a new passkey': async (app, person) => () =>
    send(app, 'POST', '/passkeys/registration/options', person),
}

const answers: typeof challenges = {
  'an answer that is too late': async (app, person) => {
    const { id, code } = await addTotp(app, person)
    const { id: challenge_id } = await challenge(app, person, id)
    await app.pool.query(`update auth.mfa_challenges set created_at = now() - interval '1 hour'`)
    return () => answer(app, person, id, { challenge_id, code: code() })
  },
  'a new passkey': async (app, person) => {
    const { challenge_id, options } = await askToRegister(app, person)
    const credential = newDevice().create(options)
    return () => finishRegistration(app, person, { challenge_id, credential })
  },
}

const env = { ...everyFactor, ...passkeysOn }

suite('a session that ends meanwhile', () => {
  for (const [what, prepare] of Object.entries(challenges)) {
    test(`${what} is refused`, async (t) => {
      const { app } = await build(t, { env })
      const person = await newPerson(app)
      const sendIt = await prepare(app, person)
      const ending = await holdEndOfSession(app, String(claimsOf(person).session_id))
      const asked = await ending.queue(1, sendIt)
      await ending.release()
      assert.deepEqual(outcomeOf(await asked.answer), [403, 'session_not_found'])
    })
  }

  for (const isShared of [false, true]) {
    const where = isShared ? 'beside GoTrue' : 'by itself'
    test(`a refresh token of the older format, ${where}, waits for the session first`, async (t) => {
      const { app } = await build(t, { env: autoconfirm })
      app.takeover.isShared = isShared
      const { user } = await newPerson(app)
      const session = await legacySession(app, user.id)
      const token = await session.add()
      const ending = await holdSession(app, session.id)
      const asked = await ending.queue(1, () => refresh(app, token))
      await ending.query('delete from auth.sessions where id = $1', [session.id])
      await ending.release()
      assert.deepEqual(outcomeOf(await asked.answer), [400, 'refresh_token_not_found'])
    })
  }
})

suite('a session that ends because its refresh token came again', () => {
  test('ends once, whoever brings it meanwhile', async (t) => {
    const { app } = await build(t, { env: autoconfirm })
    const { user, refresh_token: token } = await newPerson(app)
    const next: Session = (await refresh(app, token)).json()
    await refresh(app, next.refresh_token)
    const held = await holdPerson(app, user.id)
    const asked = []
    for (const place of [1, 2]) asked.push(await held.queue(place, () => refresh(app, token)))
    await held.release()
    for (const { answer } of asked) {
      assert.deepEqual(outcomeOf(await answer), [400, 'refresh_token_already_used'])
    }
    const { rows } = await app.pool.query(
      `select payload from auth.audit_log_entries where payload->>'action' = 'token_revoked'`,
    )
    assert.equal(rows.length, 1)
  })
})

suite('a person who is deleted meanwhile', () => {
  for (const [what, prepare] of Object.entries({ ...challenges, ...answers })) {
    test(`${what} does not keep the deletion waiting`, async (t) => {
      const { app } = await build(t, { env })
      const person = await newPerson(app)
      const sendIt = await prepare(app, person)
      const deletion = await holdDeletion(app, person.user.id)
      const asked = await deletion.queue(1, sendIt)
      await deletion.release()
      const { statusCode, body } = await asked.answer
      assert.ok(statusCode >= 400 && statusCode < 500, body)
    })

    test(`${what} does not either when it came before the end of the sessions`, async (t) => {
      const { app } = await build(t, { env })
      const person = await newPerson(app)
      const { id } = person.user
      const sendIt = await prepare(app, person)
      const deletion = await holdPerson(app, id)
      const asked = await deletion.queue(1, sendIt)
      await deletion.query('delete from auth.sessions where user_id = $1', [id])
      await deletion.query('delete from auth.users where id = $1', [id])
      await deletion.release()
      const { statusCode, body } = await asked.answer
      assert.ok(statusCode >= 400 && statusCode < 500, body)
    })
  }
})

suite('a factor that is removed meanwhile', () => {
  test('is not challenged, and the audit trail does not say so', async (t) => {
    const { app } = await build(t, { env })
    const person = await newPerson(app)
    const { id } = await addTotp(app, person)
    const held = await holdPerson(app, person.user.id)
    const asked = await held.queue(1, () => send(app, 'POST', `/factors/${id}/challenge`, person))
    await held.query('delete from auth.mfa_factors where id = $1', [id])
    await held.release()
    assert.deepEqual(outcomeOf(await asked.answer), [404, 'mfa_factor_not_found'])
    const { rows } = await app.pool.query(
      `select payload from auth.audit_log_entries where payload->>'action' = 'challenge_created'`,
    )
    assert.deepEqual(rows, [])
  })
})

suite('a sign-out', () => {
  test('of one device does not keep one from everywhere waiting', async (t) => {
    const github = providerEnv('github', 'https://github.example')
    const linkingOn = { ...autoconfirm, ...github, AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true' }
    const { app } = await build(t, { env: linkingOn })
    const person = await newPerson(app)
    const linking = await send(app, 'GET', '/user/identities/authorize?provider=github', person)
    assert.equal(linking.statusCode, 302, linking.body)

    const { id } = person.user
    const held = await holdPerson(app, id)
    await held.query('delete from auth.flow_state where linking_target_id = $1', [id])
    const local = await held.queue(1, () => send(app, 'POST', '/logout?scope=local', person))
    await held.query('delete from auth.sessions where user_id = $1', [id])
    await held.release()
    assert.equal((await local.answer).statusCode, 204)
  })
})
