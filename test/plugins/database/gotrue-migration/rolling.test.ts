/**
 * Postern and statements of GoTrue on one database at the same time: no session is lost and no token is accepted twice.
 */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import type pg from 'pg'

import type { Session } from '../../../../schemas/session.ts'
import { openPool, withoutDrop } from '../../../support/database.ts'
import { migratedGotrueDatabase } from '../../../support/gotrue/database.ts'
import { type GotrueEncrypted, gotrueEncrypted } from '../../../support/gotrue/migrated-server.ts'
import { run, transaction } from '../../../support/gotrue/reader.ts'
import { openSession, refresh as refreshInGotrue } from '../../../support/gotrue/sessions.ts'
import { addUser, mailTo, openLink } from '../../../support/gotrue/users.ts'
import { endingOfSuite } from '../../../support/processes/ending.ts'
import { untilRows } from '../../../support/processes/until.ts'
import { getUser, refresh, statusAndCode, verify } from '../../../support/requests.ts'
import { build } from '../../../support/server.ts'
import { newAddress } from '../../../support/users.ts'

const forms = ['row', 'counter'] as const

type Mailed = Awaited<ReturnType<typeof mailTo>>

const waitsForLock = `select from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`

suite('rolling migration', () => {
  const ending = endingOfSuite()
  let server: GotrueEncrypted
  let pool: pg.Pool
  before(async () => {
    server = await gotrueEncrypted(ending)
    pool = server.pool
  })

  async function newUser() {
    const email = newAddress()
    const id = await addUser(pool, { email, email_confirmed_at: new Date() })
    return { id, email }
  }

  const there = async (token: string) => String(await refreshInGotrue(pool, token))

  async function here(token: string): Promise<string> {
    const response = await refresh(server.app, token)
    assert.equal(response.statusCode, 200, response.body)
    const session: Session = response.json()
    assert.equal((await getUser(server.app, session)).statusCode, 200)
    return session.refresh_token
  }

  for (const form of forms) {
    test(`returns the same token to two tabs that refresh a ${form} token on both servers`, async () => {
      const { id } = await newUser()
      let token = await openSession(pool, id, form)
      for (let round = 0; round < 8; round++) {
        const [a, b] = await Promise.all([here(token), there(token)])
        assert.equal(a, b)
        token = a
      }
    })

    test(`returns the same tokens for a repeated ${form} token on the other server`, async () => {
      const { id } = await newUser()
      let token = await openSession(pool, id, form)
      for (const [first, second] of [
        [here, there],
        [there, here],
        [here, here],
        [there, there],
      ] as const) {
        const lost = await first(token)
        assert.equal(await second(token), lost)
        token = lost
      }
    })

    test(`rejects a ${form} token older than the previous one on both servers`, async () => {
      for (const rejected of [
        async (token: string) => assert.equal(await refreshInGotrue(pool, token), undefined),
        async (token: string) =>
          assert.deepEqual(statusAndCode(await refresh(server.app, token)), [
            400,
            'refresh_token_already_used',
          ]),
      ]) {
        const { id } = await newUser()
        const oldest = await openSession(pool, id, form)
        await there(await here(oldest))
        await rejected(oldest)
      }
    })
  }

  test('keeps each session when many users refresh concurrently', async () => {
    const users = await Promise.all(
      Array.from({ length: 6 }, async (_, at) => {
        const { id } = await newUser()
        return openSession(pool, id, forms[at % 2] ?? 'row')
      }),
    )
    await Promise.all(
      users.map(async (first, at) => {
        let token = first
        for (let turn = 0; turn < 8; turn++) {
          token = await ((turn + at) % 2 === 0 ? here : there)(token)
        }
      }),
    )
  })

  test('accepts a link once, on the server that receives it first', async () => {
    for (const first of ['here', 'there'] as const) {
      const { id, email } = await newUser()
      const { hash, code } = await mailTo(pool, id, 'recovery_token', email)
      const open = () => verify(server.app, { type: 'recovery', token_hash: hash })
      if (first === 'here') assert.equal((await open()).statusCode, 200)
      else assert.equal(await openLink(pool, hash), id)

      assert.equal(await openLink(pool, hash), undefined)
      assert.deepEqual(statusAndCode(await open()), [403, 'otp_expired'])
      const typed = await verify(server.app, { type: 'recovery', email, token: code })
      assert.deepEqual(statusAndCode(typed), [403, 'otp_expired'])
    }
  })

  const verifications = {
    link: (_email: string, { hash }: Mailed) => ({ token_hash: hash }),
    code: (email: string, { code }: Mailed) => ({ email, token: code }),
  }
  for (const [name, createVerification] of Object.entries(verifications)) {
    test(`waits for GoTrue while it consumes a ${name}, then rejects it`, async () => {
      const { id, email } = await newUser()
      const mailed = await mailTo(pool, id, 'recovery_token', email)

      const response = await transaction(pool, async (client) => {
        await run(client, `update auth.users set recovery_token = '' where id = $1`, id)
        const verification = { type: 'recovery', ...createVerification(email, mailed) }
        const waiting = Promise.resolve(verify(server.app, verification))
        await untilRows(() => run(pool, waitsForLock))
        await run(client, 'delete from auth.one_time_tokens where user_id = $1', id)
        return { waiting }
      })

      assert.deepEqual(statusAndCode(await response.waiting), [403, 'otp_expired'])
    })
  }

  test('converts legacy tokens into counter tokens once the migration is finished', async (t) => {
    const database = await migratedGotrueDatabase(t)
    const own = openPool({ connectionString: database.url, max: 2 })
    const id = await addUser(own, { email: newAddress(), email_confirmed_at: new Date() })
    const token = await openSession(own, id, 'row')
    await run(own, `update auth.postern_takeover set state = 'own'`)
    await own.end()
    const { app } = await build(t, { database: withoutDrop(database) })

    const session: Session = (await refresh(app, token)).json()

    assert.ok(session.refresh_token.length > 50)
    const again: Session = (await refresh(app, token)).json()
    assert.equal(again.refresh_token, session.refresh_token)
  })
})
