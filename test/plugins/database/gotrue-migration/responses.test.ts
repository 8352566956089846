/** Behaviour that apps and operators of GoTrue expect: times in microseconds, trigger errors, immediate changes. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { query } from '../../../db/sql.ts'
import { withoutDrop } from '../../../support/database.ts'
import { endingOfSuite } from '../../../support/processes/ending.ts'
import { call, changeUser, getUser } from '../../../support/requests.ts'
import { type Built, build } from '../../../support/server.ts'
import {
  adminToken,
  autoconfirm,
  newAddress,
  signedIn,
  signUp,
  signUpUser,
} from '../../../support/users.ts'

suite('times in responses', () => {
  const ending = endingOfSuite()
  let server: Built
  before(async () => {
    server = await build(ending, { env: autoconfirm })
  })

  /** A user whose rows have times in microseconds. */
  async function preciseUser() {
    const user = await signUpUser(server.app)
    const { id } = user.user
    const at = (hour: number) => `timestamptz '2026-01-02 0${hour}:04:05.123456+00'`
    await query(
      server.database.url,
      `update auth.users set created_at = ${at(1)}, updated_at = ${at(2)}, last_sign_in_at = ${at(3)},
        email_confirmed_at = ${at(4)}, confirmation_sent_at = ${at(5)}, invited_at = timestamptz '2026-01-02 03:04:05+00'
        where id = '${id}'`,
      `update auth.identities set created_at = ${at(6)}, updated_at = timestamptz '2026-01-02 03:04:05.1+00'
        where user_id = '${id}'`,
    )
    return user
  }

  const expected = {
    created_at: '2026-01-02T01:04:05.123456Z',
    updated_at: '2026-01-02T02:04:05.123456Z',
    last_sign_in_at: '2026-01-02T03:04:05.123456Z',
    email_confirmed_at: '2026-01-02T04:04:05.123456Z',
    confirmed_at: '2026-01-02T04:04:05.123456Z',
    confirmation_sent_at: '2026-01-02T05:04:05.123456Z',
    invited_at: '2026-01-02T03:04:05.000Z',
  }
  const pickTimes = (user: object) =>
    Object.fromEntries(Object.entries(user).filter(([name]) => name in expected))

  test('keep the microseconds of a user’s times, also in lists', async () => {
    const user = await preciseUser()
    const alone = (await getUser(server.app, user)).json()
    assert.deepEqual(pickTimes(alone), expected)
    const { identities } = alone
    assert.deepEqual(
      [identities[0].created_at, identities[0].updated_at],
      ['2026-01-02T06:04:05.123456Z', '2026-01-02T03:04:05.100Z'],
    )

    const token = await adminToken(server.app)
    const { users } = (await call(server.app, '/admin/users', undefined, { token })).json()
    const listed = users.find(({ id }: { id: string }) => id === user.user.id)
    assert.deepEqual(pickTimes(listed), expected)
  })

  test('are in UTC for any time zone of the database', async (t) => {
    const account = await preciseUser()
    const url = new URL(server.database.url)
    url.searchParams.set('options', '-c timezone=Asia/Kathmandu')
    const database = withoutDrop({ url: url.href })
    const other = await build(t, { env: autoconfirm, database })

    const user = (await getUser(other.app, await signedIn(other.app, account.email))).json()

    const { last_sign_in_at: _in, updated_at: _at, ...stored } = expected
    const { last_sign_in_at: _signedIn, updated_at: _updated, ...times } = pickTimes(user)
    assert.deepEqual(times, stored)
    assert.equal(user.identities[0].created_at, '2026-01-02T06:04:05.123456Z')
  })
})

suite('custom trigger on auth.users', () => {
  const failing: [what: string, body: string, words: RegExp][] = [
    [
      'that raises an exception',
      `raise exception 'no seat left in this plan'`,
      /no seat left in this plan/,
    ],
    [
      'with a unique violation',
      'insert into public.profiles (id) values (1)',
      /duplicate key value violates unique constraint .*profiles_pkey/,
    ],
    [
      'with a missing table',
      'insert into public.gone (id) values (1)',
      /relation .*public\.gone.* does not exist/,
    ],
  ]
  for (const [what, body, words] of failing) {
    test(`${what}: its error is logged and not returned`, async (t) => {
      const lines: string[] = []
      const { app, database } = await build(t, { env: autoconfirm, lines })
      await query(
        database.url,
        'create table public.profiles (id int primary key)',
        'insert into public.profiles values (1)',
        `create function public.greet() returns trigger language plpgsql as $$ begin ${body}; return new; end $$`,
        'create trigger greet after insert on auth.users for each row execute function public.greet()',
      )

      const response = await signUp(app, { email: newAddress() })

      assert.equal(response.statusCode, 500, response.body)
      assert.equal(response.json().error_code, 'unexpected_failure')
      assert.doesNotMatch(response.body, words)
      const errors = lines.filter((line) => JSON.parse(line).level === 'error')
      assert.ok(
        errors.some((line) => words.test(JSON.parse(line).err.message)),
        errors.join('\n'),
      )
    })
  }
})

suite('autoconfirm without a mail server', () => {
  const ending = endingOfSuite()
  let server: Built
  before(async () => {
    const env = { ...autoconfirm, AUTH_SMTP_HOST: '', AUTH_SMTP_ADMIN_EMAIL: '' }
    server = await build(ending, { env })
  })

  test('changes the email immediately', async () => {
    const account = await signUpUser(server.app)
    const email = newAddress()

    const response = await changeUser(server.app, account.access_token, { email })

    assert.equal(response.statusCode, 200, response.body)
    const { new_email: _, ...user } = response.json()
    assert.equal(user.email, email)
    assert.equal(user.identities[0].identity_data.email, email)
    await signedIn(server.app, email)
  })

  test('rejects a taken email', async () => {
    const [owner, user] = [await signUpUser(server.app), await signUpUser(server.app)]
    const response = await changeUser(server.app, user.access_token, { email: owner.email })
    assert.deepEqual([response.statusCode, response.json().error_code], [422, 'email_exists'])
  })
})
