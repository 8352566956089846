/** PASSWORD_VERIFICATION_ATTEMPT and MFA_VERIFICATION_ATTEMPT: the operator's decision about an attempt. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { query } from '../../../db/sql.ts'
import {
  type Authenticator,
  addTotp,
  challenge,
  everyFactor,
  verifyChallenge,
  wrongCode,
} from '../../../support/factors/factors.ts'
import {
  remaining,
  useCode,
  userWithRecoveryCodes,
} from '../../../support/factors/recovery-codes.ts'
import { endingOfSuite } from '../../../support/processes/ending.ts'
import { until } from '../../../support/processes/until.ts'
import { getUser, statusAndCode } from '../../../support/requests.ts'
import { type App, build } from '../../../support/server.ts'
import {
  autoconfirm,
  newAddress,
  password,
  signedIn,
  signIn,
  signUpUser,
} from '../../../support/users.ts'
import {
  functionEnv,
  makeFunction,
  makeNotes,
  readNotes,
} from '../../../support/webhooks/hook-functions.ts'
import { type HookEvent, startHookReceiver } from '../../../support/webhooks/hook-receiver.ts'

type User = Awaited<ReturnType<typeof signUpUser>>

const isAbout = (name: string, id: string, valid: boolean) => (event: HookEvent) =>
  event.metadata.name === name && event.user_id === id && event.valid === valid

suite('verification attempt hooks over HTTP', () => {
  const ending = endingOfSuite()
  const started = start()

  async function start() {
    const receiver = await startHookReceiver(ending)
    const hooks = receiver.env('PASSWORD_VERIFICATION_ATTEMPT', 'MFA_VERIFICATION_ATTEMPT')
    const { app } = await build(ending, { env: { ...everyFactor, ...hooks } })
    return { app, receiver }
  }

  async function withResponse<T>(reply: object, act: () => Promise<T>): Promise<T> {
    const { receiver } = await started
    receiver.answer(reply)
    try {
      return await act()
    } finally {
      receiver.answer({ decision: 'continue' })
    }
  }

  test('password: is called for correct and wrong passwords', async () => {
    const { app, receiver } = await started
    const { user, email } = await signUpUser(app)
    assert.equal((await signIn(app, { email })).statusCode, 200)
    const right = await receiver.next(0, isAbout('password-verification', user.id, true))
    assert.deepEqual(Object.keys(right), ['metadata', 'user_id', 'valid'])
    await signIn(app, { email, password: `not ${password}` })
    await receiver.next(0, isAbout('password-verification', user.id, false))
  })

  test('password: is not called for an unknown email', async () => {
    const { app, receiver } = await started
    const since = receiver.calls.length
    await signIn(app, { email: newAddress() })
    const { email } = await signUpUser(app)
    await signIn(app, { email })
    assert.equal(receiver.calls.length - since, 1)
  })

  test('password: rejects a correct password with its message', async () => {
    const { app } = await started
    const { email, ...session } = await signUpUser(app)
    const reply = { decision: 'reject', message: 'Not from here' }
    const response = await withResponse(reply, () => signIn(app, { email }))
    assert.deepEqual(statusAndCode(response), [400, 'invalid_credentials'])
    assert.equal(response.json().msg, 'Not from here')
    assert.equal((await getUser(app, session)).statusCode, 200)
    const plain = await withResponse({ decision: 'reject' }, () => signIn(app, { email }))
    assert.equal(plain.json().msg, 'Invalid login credentials')
  })

  test('password: should_logout_user revokes each session', async () => {
    const { app } = await started
    const { email, ...session } = await signUpUser(app)
    const reply = { decision: 'reject', message: 'Stolen', should_logout_user: true }
    await withResponse(reply, () => signIn(app, { email }))
    assert.deepEqual(statusAndCode(await getUser(app, session)), [403, 'session_not_found'])
  })

  test('password: does not change the response to a wrong password', async () => {
    const { app, receiver } = await started
    const { email, user } = await signUpUser(app)
    const wrong = { email, password: `not ${password}` }
    const usual = (await signIn(app, { email: newAddress() })).body
    const error = { error: { http_code: 429, message: 'Wait' } }
    for (const reply of [{ decision: 'reject', message: 'Wrong again' }, error]) {
      receiver.answer(reply)
      const since = receiver.calls.length
      assert.equal((await signIn(app, wrong)).body, usual)
      await receiver.next(since, isAbout('password-verification', user.id, false))
    }
    receiver.answer({ decision: 'continue' })
  })

  test('password: does not revoke sessions for a wrong password unless requested', async () => {
    const { app, receiver } = await started
    const { email, user, ...session } = await signUpUser(app)
    const isOver = async () => (await getUser(app, session)).statusCode === 403
    const attempt = async (reply: object) => {
      const since = receiver.calls.length
      await withResponse(reply, async () => {
        await signIn(app, { email, password: `not ${password}` })
        await receiver.next(since, isAbout('password-verification', user.id, false))
      })
    }
    await attempt({ decision: 'reject' })
    await sleep(200)
    assert.equal(await isOver(), false)
    await attempt({ decision: 'reject', should_logout_user: true })
    await until(isOver)
  })

  test('password: a failing hook rejects a correct password', async () => {
    const { app } = await started
    const { email } = await signUpUser(app)
    const rejected = { error: { http_code: 429, message: 'Wait' } }
    assert.deepEqual(statusAndCode(await withResponse(rejected, () => signIn(app, { email }))), [
      429,
      'unknown',
    ])
  })

  test('factor: is called for correct and wrong TOTP codes', async () => {
    const { app, receiver } = await started
    const user = await signUpUser(app)
    const factor = await addTotp(app, user)
    await attempt(app, user, factor, wrongCode(factor.secret))
    const wrong = await receiver.next(0, isAbout('mfa-verification', user.user.id, false))
    assert.deepEqual([wrong.factor_id, wrong.factor_type], [factor.id, 'totp'])
    assert.equal((await attempt(app, user, factor, factor.code())).statusCode, 200)
    await receiver.next(0, isAbout('mfa-verification', user.user.id, true))
  })

  test('factor: a rejection revokes each session and returns 403', async () => {
    const { app } = await started
    for (const isRight of [true, false]) {
      const user = await signUpUser(app)
      const other = await signedIn(app, user.email)
      const factor = await addTotp(app, user)
      const code = isRight ? factor.code() : wrongCode(factor.secret)
      const reply = { decision: 'reject', message: 'Too many wrong codes' }
      const response = await withResponse(reply, () => attempt(app, user, factor, code))
      assert.deepEqual(statusAndCode(response), [403, 'mfa_verification_rejected'])
      assert.equal(response.json().msg, 'Too many wrong codes')
      for (const session of [user, other]) {
        assert.deepEqual(statusAndCode(await getUser(app, session)), [403, 'session_not_found'])
      }
    }
  })

  test('factor: is called for each recovery code with its factor', async () => {
    const { app, receiver } = await started
    const { session, setFactor, low: aal1, first } = await userWithRecoveryCodes(app)
    const since = receiver.calls.length
    assert.equal((await useCode(app, aal1, 'a'.repeat(16))).statusCode, 422)
    assert.equal((await useCode(app, aal1, first)).statusCode, 200)
    for (const valid of [false, true]) {
      const is = isAbout('mfa-verification', session.user.id, valid)
      const { factor_id, factor_type } = await receiver.next(since, is)
      assert.deepEqual([factor_id, factor_type], [setFactor, 'recovery_code'])
    }
  })

  test('factor: a rejected recovery code is neither consumed nor counted', async () => {
    const { app } = await started
    const { email, first } = await userWithRecoveryCodes(app)
    // One more than the failure limit.
    for (let i = 0; i < 6; i++) {
      const aal1 = await signedIn(app, email)
      const code = i % 2 ? first : 'a'.repeat(16)
      const rejected = await withResponse({ decision: 'reject' }, () => useCode(app, aal1, code))
      assert.deepEqual(statusAndCode(rejected), [403, 'mfa_verification_rejected'])
      assert.deepEqual(statusAndCode(await getUser(app, aal1)), [403, 'session_not_found'])
    }
    const aal1 = await signedIn(app, email)
    assert.equal(await remaining(app, aal1), 10)
    const right = await withResponse({ decision: 'continue' }, () => useCode(app, aal1, first))
    assert.equal(right.statusCode, 200, right.body)
  })

  test('factor: an error counts a wrong recovery code and keeps a correct one valid', async () => {
    const { app } = await started
    const { low: aal1, first } = await userWithRecoveryCodes(app)
    const error = { error: { http_code: 400, message: 'Later' } }
    for (let i = 0; i < 6; i++) {
      assert.equal((await withResponse(error, () => useCode(app, aal1, first))).statusCode, 400)
    }
    for (let i = 0; i < 5; i++) {
      const wrong = await withResponse(error, () => useCode(app, aal1, 'a'.repeat(16)))
      assert.equal(wrong.statusCode, 400)
    }
    const locked = await withResponse({ decision: 'continue' }, () => useCode(app, aal1, first))
    assert.deepEqual(statusAndCode(locked), [429, 'mfa_recovery_codes_locked'])
  })

  test('factor: an error is returned to the client, and a wrong code is counted', async () => {
    const { app } = await started
    const user = await signUpUser(app)
    const factor = await addTotp(app, user)
    const { id: challenge_id } = await challenge(app, user, factor.id)
    const wrong = { challenge_id, code: wrongCode(factor.secret) }
    const error = { error: { http_code: 418, message: 'Later' } }
    for (let tries = 0; tries < 10; tries++) {
      const response = await withResponse(error, () => verifyChallenge(app, user, factor.id, wrong))
      assert.deepEqual(statusAndCode(response), [418, 'unknown'])
    }
    const blocked = await verifyChallenge(app, user, factor.id, wrong)
    assert.deepEqual(statusAndCode(blocked), [429, 'over_request_rate_limit'])
  })
})

suite('verification attempt hooks as database functions', () => {
  const ending = endingOfSuite()
  const started = start()

  async function start() {
    const env = {
      ...everyFactor,
      ...functionEnv('PASSWORD_VERIFICATION_ATTEMPT', 'decide'),
      ...functionEnv('MFA_VERIFICATION_ATTEMPT', 'decide'),
    }
    const { app } = await build(ending, { env })
    await makeNotes(app)
    await makeFunction(
      app,
      'decide',
      `#variable_conflict use_variable
      begin
        insert into operator.notes (event) values (event);
        if (select count(*) from operator.notes n where n.event->>'user_id' = event->>'user_id') > 1 then
          return '{"decision":"reject","message":"Once is enough"}';
        end if;
        return '{"decision":"continue"}';
      end;`,
    )
    return { app }
  }

  test('accept and reject', async () => {
    const { app } = await started
    const { email } = await signUpUser(app)
    assert.equal((await signIn(app, { email })).statusCode, 200)
    const second = await signIn(app, { email })
    assert.deepEqual(
      [...statusAndCode(second), second.json().msg],
      [400, 'invalid_credentials', 'Once is enough'],
    )

    const user = await signUpUser(app)
    const factor = await addTotp(app, user)
    await attempt(app, user, factor, wrongCode(factor.secret))
    const rejected = await attempt(app, user, factor, factor.code())
    assert.deepEqual(statusAndCode(rejected), [403, 'mfa_verification_rejected'])
    const names = (await readNotes(app)).map(({ metadata }) => Object(metadata).name)
    assert.ok(names.includes('password-verification') && names.includes('mfa-verification'))
  })
})

test('shutdown waits for the hook call after a wrong password', async (t) => {
  const receiver = await startHookReceiver(t)
  const env = {
    ...autoconfirm,
    ...receiver.env('PASSWORD_VERIFICATION_ATTEMPT'),
    ...functionEnv('CUSTOM_ACCESS_TOKEN', 'same'),
  }
  const { app, database } = await build(t, { env })
  await makeFunction(app, 'same', 'begin return event; end;')
  const { email } = await signUpUser(app)
  receiver.reply((_event, count) =>
    count === 1
      ? { status: 503, headers: { 'retry-after': '1' } }
      : { body: { decision: 'reject', should_logout_user: true } },
  )
  await signIn(app, { email, password: `not ${password}` })
  await receiver.next(0)

  await app.close()

  assert.deepEqual(await query(database.url, 'select from auth.sessions'), [])
  const others = `select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`
  await until(async () => (await query(database.url, others)).length === 0)
})

async function attempt(app: App, user: User, { id }: Authenticator, code: string) {
  const { id: challenge_id } = await challenge(app, user, id)
  return verifyChallenge(app, user, id, { challenge_id, code })
}
