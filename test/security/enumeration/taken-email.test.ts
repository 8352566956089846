/** Email and phone changes reveal taken values to no anonymous user and to registered users only up to a limit. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import type { User } from '../../../schemas/user.ts'
import { waitForIdleQueue } from '../../support/messages/mail-journeys.ts'
import {
  buildWithSms,
  type PhoneServer,
  sharedSmsServer,
} from '../../support/messages/phone-journeys.ts'
import { call, changeUser, getUser, statusAndCode } from '../../support/requests.ts'
import { watchStatements } from '../../support/statements.ts'
import {
  adminCreatedUser,
  anonymousUser,
  newAddress,
  newNumber,
  password,
  signedIn,
} from '../../support/users.ts'

const env = { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }
const waiting = { AUTH_SMTP_MAX_FREQUENCY: '60', AUTH_SMS_MAX_FREQUENCY: '60' }

type Kind = 'email' | 'phone'
const kinds: Kind[] = ['email', 'phone']
const free = (kind: Kind) => (kind === 'email' ? newAddress() : newNumber())

async function takenBy(
  { app }: PhoneServer,
  kind: Kind,
  how: 'verified' | 'unverified',
): Promise<string> {
  const address = free(kind)
  const body = { [kind]: address, [`${kind}_confirm`]: how === 'verified' }
  await adminCreatedUser(app, body)
  return address
}

const guest = ({ app }: PhoneServer) => anonymousUser(app)

async function registered({ app }: PhoneServer): Promise<Session> {
  const email = newAddress()
  await adminCreatedUser(app, { email, password, email_confirm: true })
  return signedIn(app, email)
}

const post = ({ app }: PhoneServer, url: string, body: object) => call(app, url, body)

const put = ({ app }: PhoneServer, changes: object, { access_token }: Session) =>
  changeUser(app, access_token, changes)

async function me({ app }: PhoneServer, session: Session): Promise<User> {
  return (await getUser(app, session)).json()
}

/** The response without ids, times and the submitted value. */
function maskResponse(user: User, address: string): string {
  return JSON.stringify(user)
    .replaceAll(user.id, 'id')
    .replaceAll(address, 'address')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
}

suite('taken email or phone', () => {
  const shared = sharedSmsServer({ env })

  suite('anonymous user requesting a taken email or phone', () => {
    for (const kind of kinds) {
      for (const how of ['verified', 'unverified'] as const) {
        test(`responds to a ${kind} taken ${how} as to a free one and sends its owner nothing`, async () => {
          const server = await shared()
          const taken = await takenBy(server, kind, how)
          const responses = []
          for (const address of [free(kind), taken]) {
            const session = await guest(server)
            const change = { [kind]: address, password, data: { name: 'Ann' } }
            const pending = await put(server, change, session)
            assert.equal(pending.statusCode, 200, pending.body)
            assert.equal(pending.json()[`new_${kind}`], address)
            const seen = await me(server, session)
            responses.push([maskResponse(pending.json(), address), maskResponse(seen, address)])
            const wrong = { type: `${kind}_change`, [kind]: address, token: '000000' }
            responses.at(-1)?.push((await post(server, '/verify', wrong)).body)
            const again = { type: `${kind}_change`, [kind]: address }
            const resent = await post(server, '/resend', again)
            assert.equal(resent.statusCode, 200, resent.body)
          }
          assert.deepEqual(responses[1], responses[0])
          await waitForIdleQueue(server)
          assert.deepEqual(sentTo(server, taken), [])
        })
      }

      test(`does the same work for a taken ${kind} as for a free one`, async () => {
        const server = await shared()
        const work = []
        for (const address of [free(kind), await takenBy(server, kind, 'verified')]) {
          const session = await guest(server)
          await waitForIdleQueue(server)
          const statements = await watchStatements(server.app, () =>
            put(server, { [kind]: address }, session),
          )
          work.push(statements.map((text) => text.replaceAll(/\s+/g, ' ').slice(0, 50)))
        }
        const [one = [], other = []] = work
        assert.deepEqual(other.map(unsaved), one.map(unsaved))
      })
    }

    test('leaves the email with its owner and the requester anonymous', async () => {
      const server = await shared()
      const email = await takenBy(server, 'email', 'verified')
      const session = await guest(server)
      await put(server, { email }, session)
      const { is_anonymous, email: own } = await me(server, session)
      assert.deepEqual([is_anonymous, own], [true, ''])
    })

    test('sends the confirmation to the requester’s unverified email for a free and for a taken email', async () => {
      const server = await shared()
      for (const expected of [free('email'), await takenBy(server, 'email', 'verified')]) {
        const session = await guest(server)
        const current = newAddress('current')
        await server.app.db
          .updateTable('users')
          .set({ email: current })
          .where('id', '=', session.user.id)
          .execute()
        assert.equal((await put(server, { email: expected }, session)).statusCode, 200)
        await server.mail.waitFor(current)
        const resent = await post(server, '/resend', { type: 'email_change', email: current })
        assert.equal(resent.statusCode, 200)
        await waitForIdleQueue(server)
        assert.equal(sentTo(server, current).length, 2)
      }
    })

    test('reveals taken values up to a limit under autoconfirm', async (t) => {
      const at = { AUTH_MAILER_AUTOCONFIRM: 'true', AUTH_SMS_AUTOCONFIRM: 'true' }
      const server = await buildWithSms(t, { env: { ...env, ...at } })
      for (const kind of kinds) {
        await reportsUpToLimit(server, kind, await guest(server))
      }
    })
  })

  suite('send intervals', () => {
    const shared = sharedSmsServer({ env: { ...env, ...waiting } })

    for (const kind of kinds) {
      const over = [
        429,
        kind === 'email' ? 'over_email_send_rate_limit' : 'over_sms_send_rate_limit',
      ]

      test(`apply to an anonymous user’s ${kind} changes, taken or not`, async () => {
        const server = await shared()
        for (const address of [free(kind), await takenBy(server, kind, 'verified')]) {
          const session = await guest(server)
          assert.equal((await put(server, { [kind]: address }, session)).statusCode, 200)
          assert.deepEqual(statusAndCode(await put(server, { [kind]: free(kind) }, session)), over)
          const other = await guest(server)
          assert.deepEqual(statusAndCode(await put(server, { [kind]: address }, other)), over)
        }
      })

      test(`are not started by a rejected ${kind} change of a registered user`, async () => {
        const server = await shared()
        const session = await registered(server)
        const taken = await takenBy(server, kind, 'verified')
        const rejected = statusAndCode(await put(server, { [kind]: taken }, session))
        assert.deepEqual(rejected, [422, `${kind}_exists`])
        assert.equal((await put(server, { [kind]: free(kind) }, session)).statusCode, 200)
        assert.deepEqual(statusAndCode(await put(server, { [kind]: free(kind) }, session)), over)
      })
    }
  })

  suite('registered user requesting a taken email or phone', () => {
    for (const kind of kinds) {
      test(`gets ${kind}_exists up to a limit`, async () => {
        const server = await shared()
        await reportsUpToLimit(server, kind, await registered(server))
      })
    }
  })
})

/** After ten taken values each request is throttled, and other users are not. */
async function reportsUpToLimit(server: PhoneServer, kind: Kind, session: Session): Promise<void> {
  const taken = await takenBy(server, kind, 'verified')
  const outcomes = []
  for (let requested = 0; requested < 10; requested++) {
    outcomes.push(statusAndCode(await put(server, { [kind]: taken }, session)))
  }
  assert.deepEqual(outcomes, Array(10).fill([422, `${kind}_exists`]))
  for (const address of [taken, free(kind)]) {
    const response = await put(server, { [kind]: address }, session)
    assert.deepEqual(statusAndCode(response), [429, 'over_request_rate_limit'])
  }
  const other = await put(server, { [kind]: taken }, await registered(server))
  assert.deepEqual(statusAndCode(other), [422, `${kind}_exists`])
}

function sentTo({ mail, sms }: PhoneServer, address: string): unknown[] {
  const emails = mail.messages.filter(({ to }) => to === address)
  return [...emails, ...sms.messages.filter(({ to }) => to.endsWith(`+${address}`))]
}

/** The ends of savepoints differ by whether changes are kept. */
const unsaved = (text: string) => text.replace(/^(release|rollback to) savepoint/, 'end of')
