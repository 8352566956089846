/** Requests whose session is revoked while they run are rejected and do not deadlock. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { providerEnv } from '../../support/external.ts'
import {
  addTotp,
  challenge,
  everyFactor,
  send,
  tokenClaims,
  verifyChallenge,
} from '../../support/factors/factors.ts'
import {
  createRegistrationChallenge,
  finishRegistration,
  newDevice,
  passkeysOn,
} from '../../support/factors/passkeys.ts'
import { legacySession } from '../../support/legacy-session.ts'
import {
  lockSessionShared,
  lockUserRow,
  pauseDeletion,
  pauseRevocation,
} from '../../support/locked-user.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { refresh, statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { autoconfirm, signUpUser } from '../../support/users.ts'

type Send = () => ReturnType<typeof send>

/** Prepared requests. */
const challenges: Record<string, (app: App, user: Session) => Promise<Send>> = {
  'a factor challenge': async (app, user) => {
    const { id } = await addTotp(app, user)
    return () => send(app, 'POST', `/factors/${id}/challenge`, user)
  },
  'a passkey registration challenge': async (app, user) => () =>
    send(app, 'POST', '/passkeys/registration/options', user),
}

const responses: typeof challenges = {
  'a response that is too late': async (app, user) => {
    const { id, code } = await addTotp(app, user)
    const { id: challenge_id } = await challenge(app, user, id)
    await app.pool.query(`update auth.mfa_challenges set created_at = now() - interval '1 hour'`)
    return () => verifyChallenge(app, user, id, { challenge_id, code: code() })
  },
  'a new passkey': async (app, user) => {
    const { challenge_id, options } = await createRegistrationChallenge(app, user)
    const credential = newDevice().create(options)
    return () => finishRegistration(app, user, { challenge_id, credential })
  },
}

const env = { ...everyFactor, ...passkeysOn }

suite('concurrent revocation', () => {
  const servers = sharedServers()

  suite('session revoked during a request', () => {
    for (const [what, prepare] of Object.entries(challenges)) {
      test(`rejects ${what}`, async () => {
        const { app } = await servers(env)
        const user = await signUpUser(app)
        const sendIt = await prepare(app, user)
        const ending = await pauseRevocation(app, String(tokenClaims(user).session_id))
        const requested = await ending.queue(1, sendIt)
        await ending.release()
        assert.deepEqual(statusAndCode(await requested.response), [403, 'session_not_found'])
      })
    }

    for (const isShared of [false, true]) {
      const where = isShared ? 'with GoTrue' : 'alone'
      test(`locks the session first for a legacy refresh token ${where}`, async (t) => {
        const { app } = await servers(autoconfirm)
        app.gotrueMigration.isShared = isShared
        t.after(() => {
          app.gotrueMigration.isShared = false
        })
        const { user } = await signUpUser(app)
        const session = await legacySession(app, user.id)
        const token = await session.add()
        const ending = await lockSessionShared(app, session.id)
        const requested = await ending.queue(1, () => refresh(app, token))
        await ending.query('delete from auth.sessions where id = $1', [session.id])
        await ending.release()
        assert.deepEqual(statusAndCode(await requested.response), [400, 'refresh_token_not_found'])
      })
    }
  })

  suite('session revoked by refresh token reuse', () => {
    test('is revoked once when the reuse is repeated', async () => {
      const { app } = await servers(autoconfirm)
      const { user, refresh_token: token } = await signUpUser(app)
      const next: Session = (await refresh(app, token)).json()
      await refresh(app, next.refresh_token)
      const lock = await lockUserRow(app, user.id)
      const requested = []
      for (const place of [1, 2]) requested.push(await lock.queue(place, () => refresh(app, token)))
      await lock.release()
      for (const { response } of requested) {
        assert.deepEqual(statusAndCode(await response), [400, 'refresh_token_already_used'])
      }
      const { rows } = await app.pool.query(
        `select payload from auth.audit_log_entries where payload->>'action' = 'token_revoked' and payload->>'actor_id' = $1`,
        [user.id],
      )
      assert.equal(rows.length, 1)
    })
  })

  suite('user deleted during a request', () => {
    for (const [what, prepare] of Object.entries({ ...challenges, ...responses })) {
      test(`is deleted without waiting for ${what}`, async () => {
        const { app } = await servers(env)
        const user = await signUpUser(app)
        const sendIt = await prepare(app, user)
        const deletion = await pauseDeletion(app, user.user.id)
        const requested = await deletion.queue(1, sendIt)
        await deletion.release()
        const { statusCode, body } = await requested.response
        assert.ok(statusCode >= 400 && statusCode < 500, body)
      })

      test(`is deleted without waiting for ${what} started before the revocation`, async () => {
        const { app } = await servers(env)
        const user = await signUpUser(app)
        const { id } = user.user
        const sendIt = await prepare(app, user)
        const deletion = await lockUserRow(app, id)
        const requested = await deletion.queue(1, sendIt)
        await deletion.query('delete from auth.sessions where user_id = $1', [id])
        await deletion.query('delete from auth.users where id = $1', [id])
        await deletion.release()
        const { statusCode, body } = await requested.response
        assert.ok(statusCode >= 400 && statusCode < 500, body)
      })
    }
  })

  suite('factor deleted during a request', () => {
    test('rejects a challenge without an audit log entry', async () => {
      const { app } = await servers(env)
      const user = await signUpUser(app)
      const { id } = await addTotp(app, user)
      const lock = await lockUserRow(app, user.user.id)
      const requested = await lock.queue(1, () =>
        send(app, 'POST', `/factors/${id}/challenge`, user),
      )
      await lock.query('delete from auth.mfa_factors where id = $1', [id])
      await lock.release()
      assert.deepEqual(statusAndCode(await requested.response), [404, 'mfa_factor_not_found'])
      const { rows } = await app.pool.query(
        `select payload from auth.audit_log_entries where payload->>'action' = 'challenge_created' and payload->>'actor_id' = $1`,
        [user.user.id],
      )
      assert.deepEqual(rows, [])
    })
  })

  suite('logout', () => {
    test('logout of one session does not deadlock with a global logout', async () => {
      const github = providerEnv('github', 'https://github.example')
      const linkingOn = { ...autoconfirm, ...github, AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true' }
      const { app } = await servers(linkingOn)
      const user = await signUpUser(app)
      const linking = await send(app, 'GET', '/user/identities/authorize?provider=github', user)
      assert.equal(linking.statusCode, 302, linking.body)

      const { id } = user.user
      const lock = await lockUserRow(app, id)
      await lock.query('delete from auth.flow_state where linking_target_id = $1', [id])
      const local = await lock.queue(1, () => send(app, 'POST', '/logout?scope=local', user))
      await lock.query('delete from auth.sessions where user_id = $1', [id])
      await lock.release()
      assert.equal((await local.response).statusCode, 204)
    })
  })
})
