import type { Trx } from '../../../db/database.ts'
import { deleteTokens } from '../../../db/one-time-tokens.ts'
import { type UserChange, type UserRecord, updateUser } from '../../../db/users.ts'
import type { LetterDeps } from '../letters.ts'
import type { LinkKind } from '../links/kinds.ts'
import type { LinkContext } from '../links.ts'
import { commonVariables, linkVariables } from './variables.ts'

export interface EmailChange {
  newEmail: string
  /** The current address is asked too. */
  asksCurrent: boolean
}

type ChangeLinkKind = Extract<LinkKind, `email_change_${string}`>

export function createEmailChangeLetters({ links, mailer, siteUrl }: LetterDeps) {
  async function write(
    trx: Trx,
    person: UserRecord,
    letter: { kind: ChangeLinkKind; to: string; newEmail: string; messageId: string | undefined },
    context: LinkContext,
    now: Date,
  ): Promise<void> {
    const { kind, to, newEmail, messageId } = letter
    const link = await links.create(trx, kind, { id: person.id, address: to }, context, now)
    const variables = {
      ...commonVariables(siteUrl, person),
      ...linkVariables(link, context.redirectTo),
      NewEmail: newEmail,
      SendingTo: to,
    }
    const { expiresAt } = link
    await mailer.queue(trx, { kind: 'email_change', to, variables, expiresAt, messageId }, now)
  }

  return {
    /**
     * Asks the new address, and where both have to agree the current one too. An earlier question is void, with
     * whatever half of it was answered. Returns the columns it changed.
     */
    async sendEmailChange(
      trx: Trx,
      person: UserRecord,
      { newEmail, asksCurrent }: EmailChange,
      context: LinkContext,
      now: Date,
    ): Promise<UserChange> {
      const change = {
        email_change: newEmail,
        email_change_sent_at: now,
        email_change_confirm_status: 0,
      }
      await updateUser(trx, person.id, change, now)
      const { messageId } = context
      const toNew = { kind: 'email_change_new', to: newEmail, newEmail, messageId } as const
      await write(trx, person, toNew, context, now)
      if (asksCurrent && person.email) {
        const to = person.email
        const letter = { kind: 'email_change_current', to, newEmail, messageId: undefined } as const
        await write(trx, person, letter, context, now)
      } else {
        await deleteTokens(trx, person.id, ['email_change_token_current'])
      }
      await links.startFlow(trx, 'email_change_new', person.id, context.pkce, now)
      return change
    },
  }
}
