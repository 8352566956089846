/**
 * No slow work inside a transaction: no hash and no request to another server between begin and commit, by the spans of
 * each request. A connection that waits is unavailable to others.
 */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { providerEnv } from '../support/external.ts'
import { totpCode } from '../support/factors/factors.ts'
import { startMailServer } from '../support/messages/mail-server.ts'
import { endingOfSuite } from '../support/processes/ending.ts'
import { serviceRole, startServerProcess } from '../support/processes/server-process.ts'
import { until } from '../support/processes/until.ts'
import { parseAttributes, type Span, startCollector } from '../support/runner/collector.ts'
import { newAddress, newNumber, password } from '../support/users.ts'
import { vendorServer } from '../support/vendor-server.ts'
import { startHookReceiver } from '../support/webhooks/hook-receiver.ts'

const hooks = [
  'CUSTOM_ACCESS_TOKEN',
  'BEFORE_USER_CREATED',
  'PASSWORD_VERIFICATION_ATTEMPT',
  'SEND_SMS',
]

interface Requested {
  method?: string
  body?: object
  token?: string
}

interface Work {
  /** Names of the spans that are no statements. */
  slow: string[]
  transactions: number
  /** Those of them between a begin and its commit. */
  held: string[]
}

suite('database transactions', () => {
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
      // One span each, so that they arrive in the order in which they ended. Their times do not tell: a span begins at a
      // whole millisecond, and a statement takes less.
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    })
    url = server.url
  })

  /** The response and the id of its trace. */
  async function send(path: string, { method, body, token }: Requested) {
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

  /** The slow operations, none in a transaction, and the number of transactions. */
  async function findWork(traceId: string): Promise<Work> {
    const inTrace = () => collector.spans().filter((span) => span.traceId === traceId)
    const isRequest = ({ parentSpanId }: Span) => parentSpanId === 'b7ad6b7169203331'
    await until(() => inTrace().some(isRequest))
    const request = inTrace().find(isRequest)
    const steps = withoutJobs(inTrace()).filter(
      (span) => span.spanId !== request?.spanId && !isOfFramework(span),
    )
    const slow = steps.filter((span) => !isStatement(span))
    const transactions = transactionsIn(steps)
    const held = transactions
      .flat()
      .filter((span) => !isStatement(span))
      .map(({ name }) => name)
    const names = new Set(slow.map(({ name }) => name))
    return { slow: [...names].toSorted(), transactions: transactions.length, held }
  }

  const signUp = async () => {
    const email = newAddress()
    const { json } = await send('/signup', { body: { email, password } })
    return { email, token: json.access_token, refresh_token: json.refresh_token }
  }

  interface Journey {
    slow: string[]
    /** Whether it requires more than one statement. */
    opens: boolean
    act: () => Promise<{ traceId: string }>
  }

  const journeys: Record<string, Journey> = {
    'a sign-up by email': {
      slow: ['POST', 'hook', 'password hash'],
      opens: true,
      act: () => send('/signup', { body: { email: newAddress(), password } }),
    },
    'a sign-up by phone': {
      slow: ['POST', 'hook', 'password hash'],
      opens: true,
      act: () => send('/signup', { body: { phone: newNumber(), password } }),
    },
    'an anonymous sign-up': {
      slow: ['POST', 'hook'],
      opens: false,
      act: () => send('/signup', { body: {} }),
    },
    'a sign-in by password': {
      slow: ['POST', 'hook', 'password hash'],
      opens: false,
      act: async () => {
        const { email } = await signUp()
        return send('/token?grant_type=password', { body: { email, password } })
      },
    },
    'a refresh': {
      slow: ['POST', 'hook'],
      opens: false,
      act: async () => {
        const { refresh_token } = await signUp()
        return send('/token?grant_type=refresh_token', { body: { refresh_token } })
      },
    },
    'a password change': {
      slow: ['password hash'],
      opens: true,
      act: async () => {
        const { token } = await signUp()
        const body = { password: `another ${password}` }
        return send('/user', { method: 'PUT', token, body })
      },
    },
    'a phone change': {
      slow: ['POST', 'hook'],
      opens: true,
      act: async () => {
        const { token } = await signUp()
        return send('/user', { method: 'PUT', token, body: { phone: newNumber() } })
      },
    },
    'an SMS code': {
      slow: ['POST', 'hook'],
      opens: true,
      act: () => send('/otp', { body: { phone: newNumber() } }),
    },
    'a user creation by an admin': {
      slow: ['password hash'],
      opens: true,
      act: async () => {
        const body = { email: newAddress(), password, email_confirm: true }
        return send('/admin/users', { token: await serviceRole(), body })
      },
    },
    'a sign-in through a provider': {
      slow: ['GET', 'POST', 'hook'],
      opens: true,
      act: async () => {
        const { location } = await send('/authorize?provider=discord', {})
        const state = new URL(String(location)).searchParams.get('state')
        return send(`/callback?${new URLSearchParams({ code: 'c', state: String(state) })}`, {})
      },
    },
  }

  for (const [name, { slow, opens, act }] of Object.entries(journeys)) {
    test(`${name} computes no password hash and sends no request inside a transaction`, async () => {
      const work = await findWork((await act()).traceId)
      assert.deepEqual([work.slow, work.transactions > 0, work.held], [slow, opens, []])
    })
  }

  test('requests about a factor record neither its secret nor a code', async () => {
    const { token } = await signUp()
    const enrolled = await send('/factors', { token, body: { factor_type: 'totp' } })
    const { id, totp } = enrolled.json
    const challenged = await send(`/factors/${id}/challenge`, { token, body: {} })
    const code = totpCode(totp.secret)
    const body = { challenge_id: challenged.json.id, code }
    const verified = await send(`/factors/${id}/verify`, { token, body })

    await findWork(verified.traceId)
    const traces = [enrolled, challenged, verified].map(({ traceId }) =>
      Buffer.from(traceId, 'hex'),
    )
    const recorded = collector.received.filter(({ body }) =>
      traces.some((traceId) => body.includes(traceId)),
    )
    assert.ok(recorded.length > 10)
    const everything = recorded.map(({ body }) => body.toString()).join('\n')
    for (const secret of [totp.secret, code]) assert.ok(!everything.includes(secret))
  })
})

const getText = ({ attributes }: Span) => String(parseAttributes(attributes)['db.query.text'] ?? '')
const isStatement = (span: Span) => getText(span) !== ''

/** Spans of Fastify's hooks and handlers, and of connections to Postgres. */
const isOfFramework = ({ name }: Span) => /^(middleware|request handler) - |connect$/.test(name)

/** An email is sent by a job in the same trace, after the response. */
function withoutJobs(spans: Span[]): Span[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const isOfJob = (span: Span | undefined): boolean =>
    span !== undefined && (/^job /.test(span.name) || isOfJob(byId.get(span.parentSpanId ?? '')))
  return spans.filter((span) => !isOfJob(span))
}

/**
 * Spans between each begin and its commit or rollback, in the order they ended. Transactions of group commit run beside
 * the request.
 */
function transactionsIn(spans: Span[]): Span[][] {
  const ends = (span: Span) => /(^|; )(commit|rollback)$/.test(getText(span))
  return spans.flatMap((begin, at) => {
    if (!/^(begin|start transaction)/.test(getText(begin)) || ends(begin)) return []
    const rest = spans.slice(at)
    const length = rest.findIndex(ends)
    assert.notEqual(length, -1, 'a transaction that does not end')
    const held = rest.slice(0, length)
    return held.some((span) => getText(span).startsWith('set local lock_timeout')) ? [] : [held]
  })
}
