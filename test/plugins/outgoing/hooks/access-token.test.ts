/** CUSTOM_ACCESS_TOKEN: the operator's claims in every token of a user. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import type { Session } from '../../../../schemas/session.ts'
import type { User } from '../../../../schemas/user.ts'
import {
  addTotp,
  challenge,
  request,
  send,
  stepUp,
  verifyChallenge,
} from '../../../support/factors/factors.ts'
import {
  emailAfter,
  emailedPath,
  pkcePair,
  redirectParams,
} from '../../../support/messages/mail-journeys.ts'
import { codeIn, linkIn } from '../../../support/messages/mail-links.ts'
import { endingOfSuite } from '../../../support/processes/ending.ts'
import { call, getUser, refresh, statusAndCode, verify } from '../../../support/requests.ts'
import { type App, build } from '../../../support/server.ts'
import {
  adminToken,
  anonymousUser,
  autoconfirm,
  signedIn,
  signIn,
  signUpUser,
} from '../../../support/users.ts'
import { type HookEvent, startHookReceiver } from '../../../support/webhooks/hook-receiver.ts'

const open = { ...autoconfirm, AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }

type Claims = Record<string, unknown>
const claimsIn = (event: HookEvent) => Object(event.claims) as Claims
const withClaim = (event: HookEvent, more: Claims) => ({ claims: { ...claimsIn(event), ...more } })

suite('custom access token hook over HTTP', () => {
  const ending = endingOfSuite()
  const started = start()

  async function start() {
    const receiver = await startHookReceiver(ending)
    const one = { AUTH_DB_MAX_POOL_SIZE: '1' }
    const env = { ...open, ...one, AUTH_ADMIN_IMPERSONATION_ENABLED: 'true' }
    const { app, mail } = await build(ending, {
      env: { ...env, ...receiver.env('CUSTOM_ACCESS_TOKEN') },
    })
    receiver.answer((event) => withClaim(event, { tier: 'gold' }))
    return { receiver, app, mail }
  }

  /** Runs `act` while the hook responds with this. */
  async function withResponse<T>(
    respond: Parameters<Awaited<ReturnType<typeof start>>['receiver']['answer']>[0],
    act: (app: App) => Promise<T>,
  ): Promise<T> {
    const { receiver, app } = await started
    receiver.answer(respond)
    try {
      return await act(app)
    } finally {
      receiver.answer((event) => withClaim(event, { tier: 'gold' }))
    }
  }

  test('is called for each token with the authentication method', async () => {
    const { receiver, app } = await started
    const since = receiver.calls.length
    const { email } = await signUpUser(app)
    const session = await signedIn(app, email)
    const refreshed: Session = (await refresh(app, session.refresh_token)).json()
    const guest = await anonymousUser(app)
    const steppedUp = await stepUp(app, refreshed, await addTotp(app, refreshed))

    const events = receiver.calls.slice(since).map(({ event }) => event)
    assert.deepEqual(
      events.map(({ authentication_method }) => authentication_method),
      ['password', 'password', 'token_refresh', 'anonymous', 'totp'],
    )
    for (const token of [session, refreshed, guest, steppedUp]) {
      assert.equal(decodeJwt(token.access_token).tier, 'gold')
    }
    const first = events[0] ?? assert.fail()
    assert.equal(first.user_id, claimsIn(first).sub)
    assert.equal(first.metadata.name, 'customize-access-token')
    assert.equal((await getUser(app, steppedUp)).statusCode, 200)
  })

  test('is called for codes, links and auth codes', async () => {
    const { receiver, app, mail } = await started
    const { email } = await signUpUser(app)
    const server = { mail }
    const send = (more = {}) =>
      emailAfter(server, email, () => call(app, '/recover', { email, ...more }))
    const token = codeIn(await send())
    const typed: Session = (await verify(app, { type: 'recovery', email, token })).json()
    const opened = redirectParams(await app.inject(emailedPath(linkIn(await send()))))
    const { verifier, fields } = pkcePair()
    const { query } = redirectParams(await app.inject(emailedPath(linkIn(await send(fields)))))
    const exchange = { auth_code: query.code, code_verifier: verifier }
    const exchanged: Session = (await call(app, '/token?grant_type=pkce', exchange)).json()
    const tokens = [typed.access_token, opened.fragment.access_token, exchanged.access_token]
    for (const accessToken of tokens) assert.equal(decodeJwt(accessToken ?? '').tier, 'gold')
    const methods = receiver.calls.slice(-3).map(({ event }) => event.authentication_method)
    assert.deepEqual(methods, ['otp', 'otp', 'recovery'])
  })

  test('replaces the claims', async () => {
    const session = await withResponse(
      (event) => {
        const {
          app_metadata: _,
          user_metadata: __,
          amr: ___,
          iss: ____,
          ...stored
        } = claimsIn(event)
        return { claims: { ...stored, role: 'editor', aud: ['a', 'b'] } }
      },
      (app) => signUpUser(app),
    )
    const claims = decodeJwt(session.access_token)
    assert.equal(claims.role, 'editor')
    assert.deepEqual(claims.aud, ['a', 'b'])
    assert.ok(!('user_metadata' in claims) && !('amr' in claims))
    // Required, or the server would not accept its own token.
    assert.equal(claims.iss, 'http://auth.example')
  })

  test('determines expires_in by its exp', async () => {
    const session = await withResponse(
      (event) => withClaim(event, { exp: Number(claimsIn(event).iat) + 60 }),
      (app) => signUpUser(app),
    )
    assert.equal(session.expires_in, 60)
    assert.equal(session.expires_at, decodeJwt(session.access_token).exp)
  })

  test('keeps the act claim of an impersonating admin', async () => {
    const { app } = await started
    const { user } = await signUpUser(app)
    const token = await adminToken(app)
    const path = `/admin/users/${user.id}/impersonate`
    const session: Session = await withResponse(
      (event) => withClaim(event, { act: undefined }),
      async () => (await call(app, path, {}, { token })).json(),
    )
    assert.deepEqual(decodeJwt(session.access_token).act, { sub: 'service_role' })
  })

  const required = [
    'aud',
    'exp',
    'iat',
    'sub',
    'email',
    'phone',
    'role',
    'aal',
    'session_id',
    'is_anonymous',
  ]
  const wrong: [string, (event: HookEvent) => object][] = [
    ...required.map((name): [string, (event: HookEvent) => object] => [
      `without ${name}`,
      (event) => withClaim(event, { [name]: undefined }),
    ]),
    ...(
      [
        ['aud', 1],
        ['exp', 'soon'],
        ['iat', 1.5],
        ['nbf', 'now'],
        ['user_metadata', 'x'],
        ['app_metadata', []],
        ['amr', 'password'],
        ['role', 7],
        ['jti', 7],
        ['iss', 'https://elsewhere.example'],
      ] as const
    ).map(([name, value]): [string, (event: HookEvent) => object] => [
      `with ${name} as ${JSON.stringify(value)}`,
      (event) => withClaim(event, { [name]: value }),
    ]),
    ['without claims', () => ({})],
    ['with claims of the wrong type', () => ({ claims: 'x' })],
  ]
  test('returns 500 for invalid claims', async () => {
    const { app } = await started
    const { email } = await signUpUser(app)
    for (const [name, reply] of wrong) {
      const response = await withResponse(reply, () => signIn(app, { email }))
      assert.deepEqual(statusAndCode(response), [500, 'unexpected_failure'], name)
      assert.match(response.json().msg, /custom access token hook/, name)
    }
  })

  test('creates no session when the hook rejects', async () => {
    const { app } = await started
    const { user, email } = await signUpUser(app)
    const before = await countSessions(app, user.id)
    const response = await withResponse({ error: { http_code: 403, message: 'Pay first' } }, () =>
      signIn(app, { email }),
    )
    assert.deepEqual(statusAndCode(response), [403, 'unknown'])
    assert.equal(response.json().msg, 'Pay first')
    assert.equal(await countSessions(app, user.id), before)
  })

  const rejection = { error: { http_code: 403, message: 'Pay first' } }

  test('rolls back a step-up when the hook rejects', async () => {
    const { receiver, app } = await started
    const user = await signUpUser(app)
    const other = await signedIn(app, user.email)
    const factor = await addTotp(app, user)
    const { id: challenge_id } = await challenge(app, user, factor.id)
    const verification = { challenge_id, code: factor.code() }
    const rejected = await withResponse(rejection, () =>
      verifyChallenge(app, user, factor.id, verification),
    )
    assert.deepEqual(statusAndCode(rejected), [403, 'unknown'])

    const { factors = [] } = (await getUser(app, user)).json<User>()
    assert.deepEqual(
      factors.map(({ status }) => status),
      ['unverified'],
    )
    assert.equal((await getUser(app, other)).statusCode, 200)
    const refreshed: Session = (await refresh(app, user.refresh_token)).json()
    assert.equal(decodeJwt(refreshed.access_token).aal, 'aal1')

    const since = receiver.calls.length
    const accepted = await verifyChallenge(app, refreshed, factor.id, verification)
    assert.equal(accepted.statusCode, 200, accepted.body)
    const steppedUp: Session = accepted.json()
    const { event } = receiver.calls[since] ?? assert.fail('the hook was not called')
    assert.equal(claimsIn(event).aal, 'aal2')
    const { aal, amr, tier } = decodeJwt<{ aal: string; tier: string; amr: { method: string }[] }>(
      steppedUp.access_token,
    )
    assert.deepEqual([aal, tier], ['aal2', 'gold'])
    assert.deepEqual(
      amr.map(({ method }) => method),
      ['totp', 'password'],
    )
  })

  test('lists a factor once in amr, by its latest verification', async () => {
    const { app } = await started
    const user = await signUpUser(app)
    const factor = await addTotp(app, user)
    const again = await stepUp(app, await stepUp(app, user, factor), factor, 1)
    const { amr } = decodeJwt<{ amr: { method: string }[] }>(again.access_token)
    assert.deepEqual(
      amr.map(({ method }) => method),
      ['totp', 'password'],
    )
  })

  test('does not consume a recovery code when the hook rejects, and is not called for a wrong code', async () => {
    const { receiver, app } = await started
    const user = await signUpUser(app)
    const steppedUp = await stepUp(app, user, await addTotp(app, user))
    const { codes } = await request<{ codes: string[] }>(
      app,
      'POST',
      '/factors/recovery-codes',
      steppedUp,
    )
    const aal1 = await signedIn(app, user.email)
    const [code = ''] = codes
    const use = (typed: string) =>
      send(app, 'POST', '/factors/recovery_codes/verify', aal1, { code: typed })

    // More often than the attempt limit: a code rejected by the hook is no failed attempt.
    for (let i = 0; i < 11; i++) {
      assert.deepEqual(statusAndCode(await withResponse(rejection, () => use(code))), [
        403,
        'unknown',
      ])
    }
    const left = await request<{ remaining: number }>(app, 'GET', '/factors/recovery_codes', aal1)
    assert.equal(left.remaining, codes.length)
    assert.equal((await getUser(app, steppedUp)).statusCode, 200)
    const again: Session = (await refresh(app, aal1.refresh_token)).json()
    assert.equal(decodeJwt(again.access_token).aal, 'aal1')

    const since = receiver.calls.length
    assert.equal((await use('a'.repeat(12))).statusCode, 422)
    assert.equal(receiver.calls.length, since)
    const consumed = await use(code)
    assert.equal(consumed.statusCode, 200, consumed.body)
    assert.equal(decodeJwt(consumed.json<Session>().access_token).aal, 'aal2')
  })

  test('does not consume the refresh token when the hook rejects', async () => {
    const { app } = await started
    const { refresh_token } = await signUpUser(app)
    const rejected = await withResponse({ error: { http_code: 403, message: 'Later' } }, () =>
      refresh(app, refresh_token),
    )
    assert.deepEqual(statusAndCode(rejected), [403, 'unknown'])
    const again: Session = (await refresh(app, refresh_token)).json()
    assert.notEqual(again.refresh_token, refresh_token)
  })

  test('does not revert a refresh when the hook rejects a repeated response', async () => {
    const { app } = await started
    const { refresh_token: before } = await signUpUser(app)
    const { refresh_token: current }: Session = (await refresh(app, before)).json()
    const rejected = await withResponse({ error: { http_code: 403, message: 'Later' } }, () =>
      refresh(app, before),
    )
    assert.deepEqual(statusAndCode(rejected), [403, 'unknown'])
    assert.equal((await refresh(app, current)).statusCode, 200)
  })

  test('rejects a token that is too long', async () => {
    const { app } = await started
    const { email } = await signUpUser(app)
    const response = await withResponse(
      (event) => withClaim(event, { books: 'x'.repeat(20_000) }),
      () => signIn(app, { email }),
    )
    assert.deepEqual(statusAndCode(response), [422, 'token_too_large'])
  })

  test('uses no pool connection while the hook hangs', async () => {
    const { receiver, app } = await started
    const session = await signUpUser(app)
    let hanging = Promise.withResolvers<() => void>()
    receiver.reply((event) => ({
      act: (response) => {
        const body = JSON.stringify(withClaim(event, {}))
        const type = { 'content-type': 'application/json' }
        hanging.resolve(() => void response.writeHead(200, type).end(body))
      },
    }))
    const requests = [
      () => signIn(app, session),
      () => call(app, '/signup', {}),
      () => refresh(app, session.refresh_token),
    ]
    for (const sendRequest of requests) {
      hanging = Promise.withResolvers()
      const requested = sendRequest()
      const response = await hanging.promise
      assert.equal((await getUser(app, session)).statusCode, 200)
      response()
      assert.equal((await requested).statusCode, 200)
    }
    receiver.answer((event) => withClaim(event, { tier: 'gold' }))
  })
})

async function countSessions(app: App, userId: string): Promise<number> {
  const { count } = await app.db
    .selectFrom('sessions')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return count
}
