import { type CommandContext, withContext } from '../shared/context.ts'

export type MailTools = Pick<CommandContext, 'db' | 'encryption' | 'queueSchema'>

/** Calls `use` with access to the email queue of the configured server. */
export function withMailTools(use: (tools: MailTools) => Promise<void>): Promise<void> {
  return withContext(console.error, use)
}
