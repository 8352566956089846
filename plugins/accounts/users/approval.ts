/**
 * Whether an account may be made: the operator's BEFORE_USER_CREATED hook is asked before the transaction begins, and
 * `users.create` makes no account without the answer.
 */
import { setTimeout as sleep } from 'node:timers/promises'

import type { Db } from '../../../db/database.ts'
import type { Metadata } from '../../../db/users.ts'
import { HookError } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'
import { findOwner } from './register.ts'
import type { Contact } from './sign-up-data.ts'

/** The answer for one account. */
export interface Approval {
  /** The id that the account gets. */
  userId: string
  /** Of whoever asked for the account; null for the record of an admin, of which no hook hears. */
  ip: string | null
}

/** The account as far as it is known. */
export interface Candidate {
  aud: string
  email?: string | null
  phone?: string | null
  userMetadata: Metadata
  appMetadata: Metadata
  isAnonymous?: boolean
}

/** Whoever wants an address to become an account's. */
export interface Applicant {
  contact: Contact
  aud: string
  data: Metadata
}

type ApprovalHouse = House<'hooks'>

/** Throws HookError when the hook says no or cannot be asked. */
export async function approve(
  { hooks }: ApprovalHouse,
  { aud, email, phone, userMetadata, appMetadata, isAnonymous = false }: Candidate,
  ip: string,
): Promise<Approval> {
  const userId = crypto.randomUUID()
  await hooks.askForUser?.(
    {
      id: userId,
      aud,
      is_anonymous: isAnonymous,
      user_metadata: userMetadata,
      app_metadata: appMetadata,
      ...(email && { email }),
      ...(phone && { phone }),
    },
    ip,
  )
  return { userId, ip }
}

/**
 * For whoever signs up with an address. Also where it is taken: neither the answer nor its time may tell. Throws
 * HookError.
 */
export function approveSignUp(
  house: ApprovalHouse,
  { contact, aud, data }: Applicant,
  ip: string,
): Promise<Approval> {
  const { provider, address } = contact
  const appMetadata = { provider, providers: [provider] }
  return approve(house, { aud, [provider]: address, userMetadata: data, appMetadata }, ip)
}

/**
 * The same where nobody is asked about an account that exists; undefined for one. Not for what a stranger waits for.
 * Throws HookError.
 */
export async function approveIfNew(
  house: ApprovalHouse,
  db: Db,
  applicant: Applicant,
  ip: string,
): Promise<Approval | undefined> {
  const { contact, aud } = applicant
  if (house.hooks.askForUser && (await findOwner(db, contact, aud))) return undefined
  return approveSignUp(house, applicant, ip)
}

/** What a hook takes, until this process has asked one. */
const usualMs = 50

/** `approveIfNew` for a stranger who waits. */
export function createQuietApproval(house: ApprovalHouse & House<'log'>) {
  let lastMs = usualMs

  /**
   * Takes as long for a known address as for a new one. What the hook says is not thrown, because it is not asked about a
   * known address: 'refused' then.
   */
  return async (
    db: Db,
    applicant: Applicant,
    ip: string,
  ): Promise<Approval | 'refused' | undefined> => {
    if (!house.hooks.askForUser) return approveSignUp(house, applicant, ip)
    const start = performance.now()
    const took = () => performance.now() - start
    try {
      const approval = await approveIfNew(house, db, applicant, ip)
      if (approval) lastMs = took()
      else await sleep(Math.max(0, lastMs - took()))
      return approval
    } catch (error) {
      if (!(error instanceof HookError)) throw error
      house.log.info({ err: error }, 'a hook refused an account')
      return 'refused'
    }
  }
}
