import { type Contact, type Kind, newContact } from './enumeration/crowd.ts'
import type { Question } from './enumeration/questions.ts'
import { times } from './people.ts'
import { plainForm } from './plain-form.ts'
import { Refused } from './scenario.ts'
import { type Comparison, compare, median } from './statistics.ts'
import type { Target } from './target.ts'

/** What the answers about one kind of people give away, against those about nobody. */
export interface Finding {
  question: string
  kind: Kind | 'everybody'
  knownMs: number
  unknownMs: number
  comparison: Comparison
  /** The forms of answer that only one of the two got, as "known: ..." or "unknown: ...". */
  tells: string[]
  /** All statuses met; a 429 says that a limit was measured and not the endpoint. */
  statuses: number[]
  alike: boolean
}

/** Below this, chance is no explanation: one false alarm in a hundred runs of all questions, kinds and tests. */
const significance = 0.0001

/** People by kind; a kind that the server cannot have is left out. */
export type Crowd = ReadonlyMap<Kind, readonly Contact[]>

/**
 * Asks a question about everybody in the crowd and as many strangers for each kind of address, one at a time and mixed
 * at random, so that whatever else slows the machine meets all alike. Each is asked about once.
 * Throws Refused when the server does not offer the endpoint.
 */
export async function enumerate(
  target: Target,
  question: Question,
  crowd: Crowd,
): Promise<Finding[]> {
  const asked = question.kinds.filter((kind) => crowd.has(kind))
  const inquiries = mix(asked, crowd)
  const tokens = question.byAnonymous ? await anonymousTokens(target, inquiries.length) : []
  const samples = new Map<Group, Sample>()
  for (const [place, { group, contact }] of inquiries.entries()) {
    const token = tokens[place]
    const request = { ...question.request(contact), ...(token && { token }) }
    const sample = samples.get(group) ?? newSample()
    samples.set(group, sample)
    const sent = performance.now()
    const answer = await target.send(request)
    sample.times.push(performance.now() - sent)
    if (answer.status === 404 || answer.status > 499) {
      throw new Refused(`${request.path}: ${answer.status}`)
    }
    sample.forms.add(plainForm(answer))
    sample.statuses.add(answer.status)
  }
  const sampleOf = (group: Group) => samples.get(group) ?? newSample()
  if (question.amongAll) {
    const strangers = [...new Set(asked.map(strangersFor))].map(sampleOf)
    return [judge(question.name, 'everybody', together(asked.map(sampleOf)), together(strangers))]
  }
  return asked.map((kind) =>
    judge(question.name, kind, sampleOf(kind), sampleOf(strangersFor(kind))),
  )
}

/** People of a kind, or strangers who are compared with them. */
type Group = Kind | 'unknown email' | 'unknown phone'

const strangersFor = (kind: Kind) => (kind === 'phone-only' ? 'unknown phone' : 'unknown email')

interface Inquiry {
  group: Group
  contact: Contact
}

/** In random order. As many strangers as people of one kind, for addresses and for numbers. */
function mix(asked: readonly Kind[], crowd: Crowd): Inquiry[] {
  const strangers = new Map<Group, Inquiry[]>()
  const known = asked.flatMap((kind) => {
    const people = crowd.get(kind) ?? []
    const group = strangersFor(kind)
    strangers.set(
      group,
      people.map(() => ({ group, contact: newContact(kind) })),
    )
    return people.map((contact): Inquiry => ({ group: kind, contact }))
  })
  return [...known, ...[...strangers.values()].flat()]
    .map((inquiry) => ({ inquiry, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ inquiry }) => inquiry)
}

function anonymousTokens(target: Target, n: number): Promise<string[]> {
  const request = { method: 'POST', path: '/signup', body: {} } as const
  return times(n, async () => (await target.call<{ access_token: string }>(request)).access_token)
}

export interface Sample {
  times: number[]
  forms: Set<string>
  statuses: Set<number>
}

function newSample(): Sample {
  return { times: [], forms: new Set(), statuses: new Set() }
}

function together(samples: Sample[]): Sample {
  return {
    times: samples.flatMap(({ times }) => times),
    forms: new Set(samples.flatMap(({ forms }) => [...forms])),
    statuses: new Set(samples.flatMap(({ statuses }) => [...statuses])),
  }
}

/** Whether known and unknown can be told apart, by time or by text. */
export function judge(
  question: string,
  kind: Finding['kind'],
  known: Sample,
  unknown: Sample,
): Finding {
  const comparison = compare(known.times, unknown.times)
  const tells = [
    ...[...known.forms.difference(unknown.forms)].map((form) => `known: ${form}`),
    ...[...unknown.forms.difference(known.forms)].map((form) => `unknown: ${form}`),
  ]
  const inTime = Math.min(comparison.rankP, comparison.distanceP) > significance
  return {
    question,
    kind,
    knownMs: median(known.times),
    unknownMs: median(unknown.times),
    comparison,
    tells,
    statuses: [...known.statuses.union(unknown.statuses)].sort(),
    alike: inTime && tells.length === 0,
  }
}
