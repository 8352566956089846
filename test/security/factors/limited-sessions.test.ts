/** A user whose role requires a second factor reaches no endpoint before it is verified, except to verify one. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { asAdmin } from '../../support/admin.ts'
import {
  addTotp,
  everyFactor,
  send,
  stepUp,
  tokenClaims,
  userWithTotp,
} from '../../support/factors/factors.ts'
import { passkeysOn } from '../../support/factors/passkeys.ts'
import { lockUserRow } from '../../support/locked-user.ts'
import {
  createClient,
  ownConsentPage,
  refreshTokens,
  signInClient,
  type Tokens,
} from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { refresh, statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { signedIn, signUpUser } from '../../support/users.ts'

const features = {
  ...ownConsentPage,
  ...everyFactor,
  ...passkeysOn,
  AUTH_ORGANIZATIONS_ENABLED: 'true',
  AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
  AUTH_USER_SELF_DELETE_ENABLED: 'true',
  AUTH_USERNAMES_ENABLED: 'true',
  AUTH_MFA_RECOVERY_CODES_ENROLL_ENABLED: 'true',
  AUTH_MFA_RECOVERY_CODES_VERIFY_ENABLED: 'true',
}
const required = { ...features, AUTH_MFA_REQUIRED_ROLES: 'authenticated' }

/** As documented in docs/mfa.md. */
const open = [
  'GET /user',
  'POST /logout',
  'POST /logout/sso',
  'POST /factors',
  'POST /factors/{factor_id}/challenge',
  'POST /factors/{factor_id}/verify',
  'DELETE /factors/{factor_id}',
  'GET /factors/recovery_codes',
  'POST /factors/recovery_codes/verify',
  'GET /factors/recovery-codes',
  'POST /factors/recovery-codes/verify',
]

type Method = Parameters<typeof send>[1]

suite('session that lacks the second factor of its role', () => {
  const serverFor = sharedServers()

  const users: Record<string, [make: (app: App) => Promise<Session>, code: string]> = {
    'without a factor': [signUpUser, 'mfa_enrollment_required'],
    'at aal1': [async (app) => signedIn(app, (await userWithTotp(app)).email), 'insufficient_aal'],
  }
  for (const [who, [make, code]] of Object.entries(users)) {
    test(`reaches exactly the open endpoints for a user ${who}`, async () => {
      const { app } = await serverFor(required)
      const session = await make(app)
      const reached = []
      const routes = await listUserRoutes(app)
      for (const name of routes) {
        const [method = '', path = ''] = name.split(' ')
        const url = path.replaceAll(/\{\w+\}/g, crypto.randomUUID())
        if (name === 'POST /logout') continue
        const [status, error] = statusAndCode(await send(app, method as Method, url, session))
        if (status !== 403 || error !== code) reached.push(name)
      }
      assert.deepEqual(
        reached.toSorted(),
        open.filter((name) => name !== 'POST /logout').toSorted(),
      )
      assert.ok(routes.length > 50, String(routes.length))
    })
  }

  test('includes a session at aal2 whose factor an admin removed, and those of its clients', async () => {
    const { app } = await serverFor(required)
    const client = await createClient(app)
    const { session, factor } = await userWithTotp(app)
    const tokens = await signInClient(app, client, session)
    const url = `/admin/users/${session.user.id}/factors/${factor.id}`
    assert.equal((await asAdmin(app, 'DELETE', url)).statusCode, 200)
    const rejected = await send(app, 'PUT', '/user', session, { data: { name: 'Eve' } })
    assert.deepEqual(statusAndCode(rejected), [403, 'mfa_enrollment_required'])
    const refreshed: Session = (await refresh(app, session.refresh_token)).json()
    assert.equal(tokenClaims(refreshed).role, 'mfa_required')
    const ofClient: Tokens = (await refreshTokens(app, client, tokens.refresh_token)).json()
    assert.equal(tokenClaims(ofClient).role, 'mfa_required')
  })

  test('includes sessions and clients from before the role was required', async () => {
    const { app } = await serverFor({ ...required, AUTH_MFA_REQUIRED_ROLES: 'editor' })
    const client = await createClient(app)
    const session = await signUpUser(app)
    const tokens = await signInClient(app, client, session)
    await app.pool.query(`update auth.users set role = 'editor' where id = $1`, [session.user.id])
    const rejected = await send(app, 'PUT', '/user', session, { data: { name: 'Eve' } })
    assert.deepEqual(statusAndCode(rejected), [403, 'mfa_enrollment_required'])
    const ofClient: Tokens = (await refreshTokens(app, client, tokens.refresh_token)).json()
    assert.equal(tokenClaims(ofClient).role, 'mfa_required')
  })
})

suite('the last two factors next to recovery codes', () => {
  const serverFor = sharedServers()

  test('are not both removed by two parallel requests', async () => {
    const { app } = await serverFor(features)
    const { session, factor } = await userWithTotp(app)
    const other = await addTotp(app, session, 'other')
    const steppedUp = await stepUp(app, session, other)
    const codes = await send(app, 'POST', '/factors/recovery_codes', steppedUp)
    assert.equal(codes.statusCode, 200, codes.body)
    const lock = await lockUserRow(app, session.user.id)
    const removals = []
    for (const [index, { id }] of [factor, other].entries()) {
      const remove = () => send(app, 'DELETE', `/factors/${id}`, steppedUp)
      removals.push(await lock.queue(index + 1, remove))
    }
    await lock.release()
    const outcomes = await Promise.all(removals.map(({ response }) => response))
    assert.deepEqual(outcomes.map(statusAndCode), [
      [200, ''],
      [422, 'mfa_recovery_codes_sole_factor'],
    ])
  })
})

/** The endpoints that need the token of a user. */
async function listUserRoutes(app: App): Promise<string[]> {
  const { paths } = (await app.inject('/openapi.json')).json<{
    paths: Record<string, Record<string, { security?: object[] }>>
  }>()
  return Object.entries(paths)
    .filter(([path]) => !path.startsWith('/admin/') && path !== '/invite')
    .flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { security = [] }]) => security.length > 0)
        .map(([method]) => `${method.toUpperCase()} ${path}`),
    )
}
