/**
 * Dummy hashes for accounts that do not exist, against user enumeration by response time. An imported hash may take
 * five times as long to verify as ours, so each address gets a dummy of one of the stored kinds, with the probability
 * of that kind.
 */
import { createHmac, type KeyObject } from 'node:crypto'

import type { FastifyBaseLogger } from 'fastify'

import { withoutDeadline } from '../../observability/request-context/index.ts'
import { type ArgonParameters, isSupportedHash } from './hashes.ts'
import { aspnetHeader } from './pbkdf2.ts'

export interface DummyHashOptions {
  /** The key that selects the kind by address. */
  key: KeyObject
  /** For new hashes; the only kind while no user has a password. */
  argon: ArgonParameters
  /** A random sample of stored hashes. */
  sample: () => Promise<string[]>
  log: Pick<FastifyBaseLogger, 'warn'>
}

/** A kind, and the end of its range when the shares of all kinds are laid out between 0 and 1. */
interface Share {
  dummy: string
  end: number
}

/** An import changes the kinds within minutes. Sampling takes a few milliseconds, however many hashes there are. */
const renewedAfterMs = 60_000

export function createDummyHashes({ key, argon, sample, log }: DummyHashOptions) {
  let shares: Share[] = [{ dummy: createBlankHash(argon), end: 1 }]
  let renewAt = 0

  async function renew(): Promise<void> {
    renewAt = Date.now() + renewedAfterMs
    try {
      const hashes = (await withoutDeadline(sample)).filter(isSupportedHash)
      if (hashes.length > 0) shares = computeShares(hashes)
    } catch (error) {
      log.warn({ err: error }, 'password hash formats could not be queried')
    }
  }

  return {
    renew,

    /**
     * Samples again, in the background, when the last sample is old: otherwise the first request for an unknown account
     * would take longer.
     */
    renewWhenOld(): void {
      if (Date.now() >= renewAt) void renew()
    },

    /** The dummy of an account, stable as long as the kinds are. */
    dummyFor(account: string): string {
      const digest = createHmac('sha256', key).update(account).digest()
      const place = digest.readUIntBE(0, 6) / 2 ** 48
      return (shares.find(({ end }) => place < end) ?? shares[0])?.dummy ?? createBlankHash(argon)
    },
  }
}

/** Sorted, so that accounts keep their kind when the shares change slightly. */
function computeShares(hashes: string[]): Share[] {
  const counts = new Map<string, number>()
  for (const dummy of hashes.map(blanked)) counts.set(dummy, (counts.get(dummy) ?? 0) + 1)
  let counted = 0
  return [...counts].toSorted().map(([dummy, count]) => {
    counted += count
    return { dummy, end: counted / hashes.length }
  })
}

/** A hash without its salt and digest, so that hashes of equal cost are equal. */
export function blanked(stored: string): string {
  const unsaid = /^\{SSHA\d*\}/i.exec(stored)?.[0] ?? aspnetHeader.exec(stored)?.[0]
  if (unsaid !== undefined) return unsaid + blankText(stored.slice(unsaid.length), 'A')
  const parts = stored.split('$')
  const isBcrypt = /(^|\$)2[abxy]?\$\d\d\$/.test(stored)
  const isDjangoScrypt = parts[0] === 'scrypt'
  const [blank, secrets] = isBcrypt ? ['.', 1] : ['A', isDjangoScrypt ? 1 : 2]
  return parts
    .map((part, at) => {
      const isSecret = at >= parts.length - secrets || (isDjangoScrypt && at === 2)
      return isSecret ? blankText(part, blank) : part
    })
    .join('$')
}

function blankText(text: string, blank: string): string {
  return text.replaceAll(/[^=]/g, blank)
}

/** 16 bytes of salt and 32 of digest, as in our hashes. */
function createBlankHash({ memoryCost, timeCost, parallelism }: ArgonParameters): string {
  const parameters = `m=${memoryCost},t=${timeCost},p=${parallelism}`
  return `$argon2id$v=19$${parameters}$${'A'.repeat(22)}$${'A'.repeat(43)}`
}
