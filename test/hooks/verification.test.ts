/** PASSWORD_VERIFICATION_ATTEMPT and MFA_VERIFICATION_ATTEMPT: the operator's word on a guess. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { query } from '../db/sql.ts'
import { endingOfSuite } from '../support/ending.ts'
import {
  type Authenticator,
  addTotp,
  answer,
  challenge,
  everyFactor,
  wrongCode,
} from '../support/factors.ts'
import { functionEnv, makeFunction, makeNotes, readNotes } from '../support/hook-functions.ts'
import { type HookEvent, startHookReceiver } from '../support/hook-receiver.ts'
import {
  autoconfirm,
  newAddress,
  newPerson,
  password,
  signedIn,
  signIn,
} from '../support/people.ts'
import { getUser, outcomeOf } from '../support/requests.ts'
import { type App, build } from '../support/server.ts'
import { until } from '../support/until.ts'

type Person = Awaited<ReturnType<typeof newPerson>>

const isAbout = (name: string, id: string, valid: boolean) => (event: HookEvent) =>
  event.metadata.name === name && event.user_id === id && event.valid === valid

suite('the hooks of verification over HTTP', () => {
  const ending = endingOfSuite()
  const started = start()

  async function start() {
    const receiver = await startHookReceiver(ending)
    const hooks = receiver.env('PASSWORD_VERIFICATION_ATTEMPT', 'MFA_VERIFICATION_ATTEMPT')
    const { app } = await build(ending, { env: { ...everyFactor, ...hooks } })
    return { app, receiver }
  }

  async function answering<T>(reply: object, act: () => Promise<T>): Promise<T> {
    const { receiver } = await started
    receiver.answer(reply)
    try {
      return await act()
    } finally {
      receiver.answer({ decision: 'continue' })
    }
  }

  test('a password is told of, right or wrong', async () => {
    const { app, receiver } = await started
    const { user, email } = await newPerson(app)
    assert.equal((await signIn(app, { email })).statusCode, 200)
    const right = await receiver.next(0, isAbout('password-verification', user.id, true))
    assert.deepEqual(Object.keys(right), ['metadata', 'user_id', 'valid'])
    await signIn(app, { email, password: `not ${password}` })
    await receiver.next(0, isAbout('password-verification', user.id, false))
  })

  test('nobody is told of for an unknown address', async () => {
    const { app, receiver } = await started
    const since = receiver.calls.length
    await signIn(app, { email: newAddress() })
    const { email } = await newPerson(app)
    await signIn(app, { email })
    assert.equal(receiver.calls.length - since, 1)
  })

  test('a right password that is rejected signs nobody in, with the words of the hook', async () => {
    const { app } = await started
    const { email, ...session } = await newPerson(app)
    const reply = { decision: 'reject', message: 'Not from here' }
    const response = await answering(reply, () => signIn(app, { email }))
    assert.deepEqual(outcomeOf(response), [400, 'invalid_credentials'])
    assert.equal(response.json().msg, 'Not from here')
    assert.equal((await getUser(app, session)).statusCode, 200)
    const plain = await answering({ decision: 'reject' }, () => signIn(app, { email }))
    assert.equal(plain.json().msg, 'Invalid login credentials')
  })

  test('should_logout_user ends every session', async () => {
    const { app } = await started
    const { email, ...session } = await newPerson(app)
    const reply = { decision: 'reject', message: 'Stolen', should_logout_user: true }
    await answering(reply, () => signIn(app, { email }))
    assert.deepEqual(outcomeOf(await getUser(app, session)), [403, 'session_not_found'])
  })

  test('of a wrong password the client hears nothing new, whatever the hook says', async () => {
    const { app, receiver } = await started
    const { email, user } = await newPerson(app)
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

  test('nor do their sessions end, unless the hook wants that', async () => {
    const { app, receiver } = await started
    const { email, user, ...session } = await newPerson(app)
    const isOver = async () => (await getUser(app, session)).statusCode === 403
    const guess = async (reply: object) => {
      const since = receiver.calls.length
      await answering(reply, async () => {
        await signIn(app, { email, password: `not ${password}` })
        await receiver.next(since, isAbout('password-verification', user.id, false))
      })
    }
    await guess({ decision: 'reject' })
    await sleep(200)
    assert.equal(await isOver(), false)
    await guess({ decision: 'reject', should_logout_user: true })
    await until(isOver)
  })

  test('a hook that fails lets no right password pass', async () => {
    const { app } = await started
    const { email } = await newPerson(app)
    const refused = { error: { http_code: 429, message: 'Wait' } }
    assert.deepEqual(outcomeOf(await answering(refused, () => signIn(app, { email }))), [
      429,
      'unknown',
    ])
  })

  test('a code of an app is told of, right or wrong', async () => {
    const { app, receiver } = await started
    const person = await newPerson(app)
    const factor = await addTotp(app, person)
    await guess(app, person, factor, wrongCode(factor.secret))
    const wrong = await receiver.next(0, isAbout('mfa-verification', person.user.id, false))
    assert.deepEqual([wrong.factor_id, wrong.factor_type], [factor.id, 'totp'])
    assert.equal((await guess(app, person, factor, factor.code())).statusCode, 200)
    await receiver.next(0, isAbout('mfa-verification', person.user.id, true))
  })

  test('a code that is rejected ends every session: 403', async () => {
    const { app } = await started
    for (const isRight of [true, false]) {
      const person = await newPerson(app)
      const other = await signedIn(app, person.email)
      const factor = await addTotp(app, person)
      const code = isRight ? factor.code() : wrongCode(factor.secret)
      const reply = { decision: 'reject', message: 'Too many wrong codes' }
      const response = await answering(reply, () => guess(app, person, factor, code))
      assert.deepEqual(outcomeOf(response), [403, 'mfa_verification_rejected'])
      assert.equal(response.json().msg, 'Too many wrong codes')
      for (const session of [person, other]) {
        assert.deepEqual(outcomeOf(await getUser(app, session)), [403, 'session_not_found'])
      }
    }
  })

  test('an error of the hook reaches the client, and a wrong code stays counted', async () => {
    const { app } = await started
    const person = await newPerson(app)
    const factor = await addTotp(app, person)
    const { id: challenge_id } = await challenge(app, person, factor.id)
    const wrong = { challenge_id, code: wrongCode(factor.secret) }
    const error = { error: { http_code: 418, message: 'Later' } }
    for (let tries = 0; tries < 10; tries++) {
      const response = await answering(error, () => answer(app, person, factor.id, wrong))
      assert.deepEqual(outcomeOf(response), [418, 'unknown'])
    }
    const blocked = await answer(app, person, factor.id, wrong)
    assert.deepEqual(outcomeOf(blocked), [429, 'over_request_rate_limit'])
  })
})

suite('the hooks of verification as database functions', () => {
  const ending = endingOfSuite()
  const started = start()

  async function start() {
    const env = {
      ...everyFactor,
      ...functionEnv('PASSWORD_VERIFICATION_ATTEMPT', 'judge'),
      ...functionEnv('MFA_VERIFICATION_ATTEMPT', 'judge'),
    }
    const { app } = await build(ending, { env })
    await makeNotes(app)
    await makeFunction(
      app,
      'judge',
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

  test('let pass and reject', async () => {
    const { app } = await started
    const { email } = await newPerson(app)
    assert.equal((await signIn(app, { email })).statusCode, 200)
    const second = await signIn(app, { email })
    assert.deepEqual(
      [...outcomeOf(second), second.json().msg],
      [400, 'invalid_credentials', 'Once is enough'],
    )

    const person = await newPerson(app)
    const factor = await addTotp(app, person)
    await guess(app, person, factor, wrongCode(factor.secret))
    const rejected = await guess(app, person, factor, factor.code())
    assert.deepEqual(outcomeOf(rejected), [403, 'mfa_verification_rejected'])
    const names = (await readNotes(app)).map(({ metadata }) => Object(metadata).name)
    assert.ok(names.includes('password-verification') && names.includes('mfa-verification'))
  })
})

test('a server that ends waits for what is said of a wrong password, and leaves no connection', async (t) => {
  const receiver = await startHookReceiver(t)
  const env = {
    ...autoconfirm,
    ...receiver.env('PASSWORD_VERIFICATION_ATTEMPT'),
    ...functionEnv('CUSTOM_ACCESS_TOKEN', 'same'),
  }
  const { app, database } = await build(t, { env })
  await makeFunction(app, 'same', 'begin return event; end;')
  const { email } = await newPerson(app)
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

async function guess(app: App, person: Person, { id }: Authenticator, code: string) {
  const { id: challenge_id } = await challenge(app, person, id)
  return answer(app, person, id, { challenge_id, code })
}
