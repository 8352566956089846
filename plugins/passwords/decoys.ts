/**
 * Hashes that nothing matches, for accounts that do not exist. An imported hash may take five times as long to verify as
 * one of ours, so each address has a decoy of one of the kinds that are stored, as often as that kind is stored: how long
 * a wrong password takes then tells nothing.
 */
import { createHmac, type KeyObject } from 'node:crypto'

import type { FastifyBaseLogger } from 'fastify'

import { withoutTimeLimit } from '../context.ts'
import { type ArgonParameters, isSupportedHash } from './hashes.ts'

export interface DecoyOptions {
  /** Of the hash that picks the kind of an address. */
  key: KeyObject
  /** Of new hashes, which are all there is before anybody has a password. */
  argon: ArgonParameters
  /** Some of the stored hashes, chosen at random. */
  sample: () => Promise<string[]>
  log: Pick<FastifyBaseLogger, 'warn'>
}

/** A kind, and where it ends when all hashes are laid out between 0 and 1. */
interface Share {
  decoy: string
  end: number
}

/** An import changes the kinds within minutes. Looking takes a few milliseconds, however many hashes there are. */
const renewedAfterMs = 60_000

export function createDecoys({ key, argon, sample, log }: DecoyOptions) {
  let shares: Share[] = [{ decoy: blankOf(argon), end: 1 }]
  let renewAt = 0

  async function renew(): Promise<void> {
    renewAt = Date.now() + renewedAfterMs
    try {
      const hashes = (await withoutTimeLimit(sample)).filter(isSupportedHash)
      if (hashes.length > 0) shares = sharesOf(hashes)
    } catch (error) {
      log.warn({ err: error }, 'which kinds of password hashes are stored could not be looked up')
    }
  }

  return {
    renew,

    /** Looks again when that was long ago. Nobody waits for it, or the first to ask about nobody would wait longest. */
    renewWhenOld(): void {
      if (Date.now() >= renewAt) void renew()
    },

    /** The same for an account as long as the kinds are the same. */
    decoyFor(account: string): string {
      const digest = createHmac('sha256', key).update(account).digest()
      const place = digest.readUIntBE(0, 6) / 2 ** 48
      return (shares.find(({ end }) => place < end) ?? shares[0])?.decoy ?? blankOf(argon)
    },
  }
}

/** In an order of their own, so that an account keeps its kind when the shares change a little. */
function sharesOf(hashes: string[]): Share[] {
  const counts = new Map<string, number>()
  for (const decoy of hashes.map(blanked)) counts.set(decoy, (counts.get(decoy) ?? 0) + 1)
  let counted = 0
  return [...counts].toSorted().map(([decoy, count]) => {
    counted += count
    return { decoy, end: counted / hashes.length }
  })
}

/** A hash without its salt and digest, which leaves what it costs: hashes of one kind become the same. */
export function blanked(stored: string): string {
  const parts = stored.split('$')
  const isBcrypt = /(^|\$)2[abxy]?\$\d\d\$/.test(stored)
  const [blank, secrets] = isBcrypt ? ['.', 1] : ['A', 2]
  return parts
    .map((part, at) => (at < parts.length - secrets ? part : part.replaceAll(/[^=]/g, blank)))
    .join('$')
}

/** 16 bytes of salt and 32 of digest, as our hashes have them. */
function blankOf({ memoryCost, timeCost, parallelism }: ArgonParameters): string {
  const parameters = `m=${memoryCost},t=${timeCost},p=${parallelism}`
  return `$argon2id$v=19$${parameters}$${'A'.repeat(22)}$${'A'.repeat(43)}`
}
