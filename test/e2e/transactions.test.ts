/**
 * No slow work inside a transaction: neither a hash nor a call of another server stands between begin and commit, as the
 * spans of each request tell. A connection that waits for somebody else is one that nobody can use.
 */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { type Span, startCollector, valuesOf } from '../support/collector.ts'
import { endingOfSuite } from '../support/ending.ts'
import { providerEnv } from '../support/external.ts'
import { startHookReceiver } from '../support/hook-receiver.ts'
import { startMailServer } from '../support/mail-server.ts'
import { newAddress, newNumber, password } from '../support/people.ts'
import { serviceRole, startServerProcess } from '../support/server-process.ts'
import { until } from '../support/until.ts'
import { vendorServer } from '../support/vendor-server.ts'

const hooks = [
  ...['CUSTOM_ACCESS_TOKEN', 'BEFORE_USER_CREATED', 'PASSWORD_VERIFICATION_ATTEMPT', 'SEND_SMS'],
]

interface Asked {
  method?: string
  body?: object
  token?: string
}

suite('between begin and commit', () => {
  const ending = endingOfSuite()
  let collector: Awaited<ReturnType<typeof startCollector>>
  let receiver: Awaited<ReturnType<typeof startHookReceiver>>
  let url: string
  before(async () => {
    const mail = await startMailServer()
    ending.after(() => mail.stop())
    collector = await startCollector(ending)
    receiver = await startHookReceiver(ending)
    receiver.answer((event) => (event.claims ? { claims: event.claims } : { decision: 'continue' }))
    const profile = { id: '4711', username: 'ann', email: newAddress(), verified: true }
    const token = { access_token: 'at', token_type: 'Bearer' }
    const vendor = await vendorServer(ending, { json: { ...profile, ...token } })
    const server = await startServerProcess(ending, {
      ...mail.env,
      ...receiver.env(...hooks),
      ...providerEnv('discord', vendor.url),
      AUTH_MAILER_AUTOCONFIRM: 'true',
      AUTH_EXTERNAL_PHONE_ENABLED: 'true',
      AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
      AUTH_SMS_MAX_FREQUENCY: '0',
      AUTH_TRACING_ENABLED: 'true',
      AUTH_TRACING_EXPORTER: 'opentelemetry',
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    })
    url = server.url
  })

  /** The answer, and the id of its trace. */
  async function ask(path: string, { method, body, token }: Asked) {
    const traceId = crypto.randomUUID().replaceAll('-', '')
    const response = await fetch(url + path, {
      method: method ?? (body ? 'POST' : 'GET'),
      redirect: 'manual',
      headers: {
        traceparent: `00-${traceId}-b7ad6b7169203331-01`,
        ...(body && { 'content-type': 'application/json' }),
        ...(token && { authorization: `Bearer ${token}` }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    assert.ok(response.status < 400, `${path}: ${response.status} ${text}`)
    const location = response.headers.get('location')
    return { traceId, location, json: text.startsWith('{') ? JSON.parse(text) : {} }
  }

  /** The names of what took its time, none of it in a transaction, and how many of these there were. */
  async function workOf(traceId: string): Promise<{ slow: string[]; transactions: number }> {
    const inTrace = () => collector.spans().filter((span) => span.traceId === traceId)
    const isRequest = ({ parentSpanId }: Span) => parentSpanId === 'b7ad6b7169203331'
    await until(() => inTrace().some(isRequest))
    const request = inTrace().find(isRequest)
    const steps = inTrace().filter(({ parentSpanId }) => parentSpanId === request?.spanId)
    const slow = steps.filter((span) => !isStatement(span))
    const transactions = transactionsIn(steps)
    for (const held of transactions) {
      const names = held.filter((span) => !isStatement(span)).map(({ name }) => name)
      assert.deepEqual(names, [], request?.name)
    }
    const names = new Set(slow.map(({ name }) => name).filter((name) => name !== 'pool wait'))
    return { slow: [...names].toSorted(), transactions: transactions.length }
  }

  const signUp = async () => {
    const email = newAddress()
    const { json } = await ask('/signup', { body: { email, password } })
    return { email, token: json.access_token, refresh_token: json.refresh_token }
  }

  interface Journey {
    slow: string[]
    /** Whether it needs more than one statement that stands by itself. */
    opens: boolean
    act: () => Promise<{ traceId: string }>
  }

  const journeys: Record<string, Journey> = {
    'a sign-up by email': {
      slow: ['hook', 'password hash'],
      opens: true,
      act: () => ask('/signup', { body: { email: newAddress(), password } }),
    },
    'a sign-up by phone': {
      slow: ['hook', 'password hash'],
      opens: true,
      act: () => ask('/signup', { body: { phone: newNumber(), password } }),
    },
    'an anonymous sign-up': {
      slow: ['hook'],
      opens: false,
      act: () => ask('/signup', { body: {} }),
    },
    'a sign-in by password': {
      slow: ['hook', 'password hash'],
      opens: false,
      act: async () => {
        const { email } = await signUp()
        return ask('/token?grant_type=password', { body: { email, password } })
      },
    },
    'a refresh': {
      slow: ['hook'],
      opens: false,
      act: async () => {
        const { refresh_token } = await signUp()
        return ask('/token?grant_type=refresh_token', { body: { refresh_token } })
      },
    },
    'a new password': {
      slow: ['password hash'],
      opens: true,
      act: async () => {
        const { token } = await signUp()
        const body = { password: `another ${password}` }
        return ask('/user', { method: 'PUT', token, body })
      },
    },
    'another number': {
      slow: ['hook'],
      opens: true,
      act: async () => {
        const { token } = await signUp()
        return ask('/user', { method: 'PUT', token, body: { phone: newNumber() } })
      },
    },
    'a code by text message': {
      slow: ['hook'],
      opens: true,
      act: () => ask('/otp', { body: { phone: newNumber() } }),
    },
    'a person whom an admin adds': {
      slow: ['password hash'],
      opens: true,
      act: async () => {
        const body = { email: newAddress(), password, email_confirm: true }
        return ask('/admin/users', { token: await serviceRole(), body })
      },
    },
    'a sign-in through a provider': {
      slow: ['GET 127.0.0.1', 'POST 127.0.0.1', 'hook'],
      opens: true,
      act: async () => {
        const { location } = await ask('/authorize?provider=discord', {})
        const state = new URL(String(location)).searchParams.get('state')
        return ask(`/callback?${new URLSearchParams({ code: 'c', state: String(state) })}`, {})
      },
    },
  }

  for (const [name, { slow, opens, act }] of Object.entries(journeys)) {
    test(`${name} hashes nothing, and asks nobody`, async () => {
      const { traceId } = await act()
      const work = await workOf(traceId)
      assert.deepEqual([work.slow, work.transactions > 0], [slow, opens])
    })
  }
})

const isStatement = ({ attributes }: Span) => valuesOf(attributes)['db.query.text'] !== undefined

/**
 * What ended from each begin to its commit or rollback. The spans come in the order in which they ended; their times have
 * whole milliseconds, of which one can hold a whole transaction.
 */
function transactionsIn(spans: Span[]): Span[][] {
  return spans.flatMap((begin, at) => {
    if (!isStatement(begin) || begin.name !== 'BEGIN') return []
    const rest = spans.slice(at)
    const length = rest.findIndex(({ name }) => name === 'COMMIT' || name === 'ROLLBACK')
    assert.notEqual(length, -1, 'a transaction that does not end')
    return [rest.slice(0, length)]
  })
}
