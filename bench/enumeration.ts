import type { HttpRequest } from './exchange.ts'
import { newEmail, password, people } from './people.ts'
import { plainForm } from './plain-form.ts'
import { Refused } from './scenario.ts'
import { type Comparison, compare, median } from './statistics.ts'
import type { Target } from './target.ts'

/** One endpoint, asked about addresses that exist and addresses that do not. */
export interface Question {
  name: string
  /** The addresses that are known to the server: confirmed, or signed up and waiting for the mail. */
  known: 'confirmed' | 'unconfirmed'
  request(email: string): HttpRequest
}

export interface Finding {
  question: string
  knownMs: number
  unknownMs: number
  comparison: Comparison
  /** The forms of answer that only one of the two kinds got, as "known: ..." or "unknown: ...". */
  tells: string[]
  /** All statuses met; a 429 says that a limit was measured and not the endpoint. */
  statuses: number[]
  alike: boolean
}

/** Below this, chance is no explanation: one false alarm in a hundred runs of five questions and two tests. */
const significance = 0.001

export const questions: Question[] = [
  {
    name: 'sign-up',
    known: 'confirmed',
    request: (email) => ({ method: 'POST', path: '/signup', body: { email, password } }),
  },
  {
    name: 'resend, confirmed',
    known: 'confirmed',
    request: (email) => ({ method: 'POST', path: '/resend', body: { type: 'signup', email } }),
  },
  {
    name: 'resend, unconfirmed',
    known: 'unconfirmed',
    request: (email) => ({ method: 'POST', path: '/resend', body: { type: 'signup', email } }),
  },
  {
    name: 'sign-in, wrong password',
    known: 'confirmed',
    request: (email) => ({
      method: 'POST',
      path: '/token?grant_type=password',
      body: { email, password: `not ${password}` },
    }),
  },
  {
    name: 'recover',
    known: 'confirmed',
    request: (email) => ({ method: 'POST', path: '/recover', body: { email } }),
  },
]

/**
 * Asks a question about n known and n unknown addresses, one at a time and mixed at random, so that
 * whatever else slows the machine meets both kinds alike. Each address is asked about once.
 * Throws Refused when the server does not offer the endpoint.
 */
export async function enumerate(target: Target, question: Question, n: number): Promise<Finding> {
  const known = await knownAddresses(target, question.known, n)
  const seen = { known: newSample(), unknown: newSample() }
  for (const { kind, email } of mix(known)) {
    const request = question.request(email)
    const sent = performance.now()
    const answer = await target.send(request)
    const time = performance.now() - sent
    if (answer.status === 404 || answer.status > 499) {
      throw new Refused(`${request.path}: ${answer.status}`)
    }
    seen[kind].times.push(time)
    seen[kind].forms.add(plainForm(answer))
    seen[kind].statuses.add(answer.status)
  }
  return judge(question, seen.known, seen.unknown)
}

export interface Sample {
  times: number[]
  forms: Set<string>
  statuses: Set<number>
}

function newSample(): Sample {
  return { times: [], forms: new Set(), statuses: new Set() }
}

/** What the answers about known and unknown addresses give away, in time or in text. */
export function judge(question: Question, known: Sample, unknown: Sample): Finding {
  const comparison = compare(known.times, unknown.times)
  const tells = [
    ...[...known.forms.difference(unknown.forms)].map((form) => `known: ${form}`),
    ...[...unknown.forms.difference(known.forms)].map((form) => `unknown: ${form}`),
  ]
  const inTime = Math.min(comparison.rankP, comparison.distanceP) > significance
  return {
    question: question.name,
    knownMs: median(known.times),
    unknownMs: median(unknown.times),
    comparison,
    tells,
    statuses: [...known.statuses.union(unknown.statuses)].sort(),
    alike: inTime && tells.length === 0,
  }
}

async function knownAddresses(target: Target, kind: Question['known'], n: number) {
  if (kind === 'confirmed') return (await people(target, n)).map((person) => person.email)
  const emails = Array.from({ length: n }, newEmail)
  await Promise.all(
    emails.map((email) =>
      target.call<object>({ method: 'POST', path: '/signup', body: { email, password } }),
    ),
  )
  return emails
}

/** Each known address beside a new one, in random order. */
function mix(known: string[]) {
  return known
    .flatMap((email) => [
      { kind: 'known' as const, email, place: Math.random() },
      { kind: 'unknown' as const, email: newEmail(), place: Math.random() },
    ])
    .sort((a, b) => a.place - b.place)
}
