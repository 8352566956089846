import { Rejected } from './core/rejected.ts'
import type { Target } from './core/target.ts'
import { times } from './core/users.ts'
import type { EnumerationCase } from './enumeration/cases.ts'
import { type Contact, type Kind, newContact } from './enumeration/users.ts'
import { plainForm } from './plain-form.ts'
import { comparePairs, median } from './statistics.ts'

/** What responses about one account state reveal, compared with those about unknown identifiers. */
export interface Finding {
  question: string
  kind: Kind | 'everyone'
  knownMs: number
  unknownMs: number
  /** Share of pairs in which the known identifier takes longer, 0 to 1; 0.5 when they are equal. */
  knownSlower: number
  /** Responses that only one of the two groups got, as "known: ..." or "unknown: ...". */
  differences: string[]
  /** All statuses; a 429 means that a rate limit was measured instead of the endpoint. */
  statuses: number[]
  isIndistinguishable: boolean
}

/** Standard deviations from equal shares: about one false alarm in a hundred runs of all questions and states. */
const maxDeviations = 4

/** Users by kind; a kind that the server cannot have is left out. */
export type EnumerationUsers = ReadonlyMap<Kind, readonly Contact[]>

/**
 * Sends a request for each user and for as many unknown identifiers of each type, sequentially in random order, so that
 * other load affects all equally. Each is requested once. Throws Rejected when the server lacks the endpoint.
 */
export async function enumerate(
  target: Target,
  question: EnumerationCase,
  enumerationUsers: EnumerationUsers,
): Promise<Finding[]> {
  const requested = question.kinds.filter((kind) => enumerationUsers.has(kind))
  const inquiries = mix(requested, enumerationUsers)
  const tokens = question.byAnonymous ? await anonymousTokens(target, inquiries.length) : []
  const samples = new Map<Group, Sample>()
  for (const [place, { group, contact }] of inquiries.entries()) {
    const token = tokens[place]
    const request = { ...question.request(contact), ...(token && { token }) }
    const sample = samples.get(group) ?? newSample()
    samples.set(group, sample)
    const sent = performance.now()
    const response = await target.send(request)
    sample.times.push(performance.now() - sent)
    if (response.status === 404 || response.status > 499) {
      throw new Rejected(`${request.path}: ${response.status}`)
    }
    sample.forms.add(plainForm(response))
    sample.statuses.add(response.status)
  }
  const getSample = (group: Group) => samples.get(group) ?? newSample()
  if (question.amongAll) {
    const attackers = [...new Set(requested.map(toUnknownGroup))].map(getSample)
    return [
      compareSamples(
        question.name,
        'everyone',
        mergeSamples(requested.map(getSample)),
        mergeSamples(attackers),
      ),
    ]
  }
  return requested.map((kind) =>
    compareSamples(question.name, kind, getSample(kind), getSample(toUnknownGroup(kind))),
  )
}

/** Users of an account state, or unknown identifiers to compare with. */
type Group = Kind | 'unknown email' | 'unknown phone' | 'unknown username'

function toUnknownGroup(kind: Kind): Group {
  if (kind === 'named') return 'unknown username'
  return kind === 'phone-only' ? 'unknown phone' : 'unknown email'
}

interface Inquiry {
  group: Group
  contact: Contact
}

/** In random order. As many unknown identifiers as users per state, for emails and phones. */
function mix(requested: readonly Kind[], enumerationUsers: EnumerationUsers): Inquiry[] {
  const attackers = new Map<Group, Inquiry[]>()
  const known = requested.flatMap((kind) => {
    const users = enumerationUsers.get(kind) ?? []
    const group = toUnknownGroup(kind)
    attackers.set(
      group,
      users.map(() => ({ group, contact: newContact(kind) })),
    )
    return users.map((contact): Inquiry => ({ group: kind, contact }))
  })
  return [...known, ...[...attackers.values()].flat()]
    .map((inquiry) => ({ inquiry, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ inquiry }) => inquiry)
}

function anonymousTokens(target: Target, n: number): Promise<string[]> {
  const request = { method: 'POST', path: '/signup', body: {} } as const
  return times(n, async () => (await target.call<{ access_token: string }>(request)).access_token)
}

interface Sample {
  times: number[]
  forms: Set<string>
  statuses: Set<number>
}

function newSample(): Sample {
  return { times: [], forms: new Set(), statuses: new Set() }
}

function mergeSamples(samples: Sample[]): Sample {
  return {
    times: samples.flatMap(({ times }) => times),
    forms: new Set(samples.flatMap(({ forms }) => [...forms])),
    statuses: new Set(samples.flatMap(({ statuses }) => [...statuses])),
  }
}

/** Whether known and unknown are distinguishable, by time or text. */
export function compareSamples(
  question: string,
  kind: Finding['kind'],
  known: Sample,
  unknown: Sample,
): Finding {
  const { greater, deviation } = comparePairs(known.times, unknown.times)
  const differences = [
    ...[...known.forms.difference(unknown.forms)].map((form) => `known: ${form}`),
    ...[...unknown.forms.difference(known.forms)].map((form) => `unknown: ${form}`),
  ]
  const inTime = Math.abs(greater - 0.5) < maxDeviations * deviation
  return {
    question,
    kind,
    knownMs: median(known.times),
    unknownMs: median(unknown.times),
    knownSlower: greater,
    differences,
    statuses: [...known.statuses.union(unknown.statuses)].sort(),
    isIndistinguishable: inTime && differences.length === 0,
  }
}
