import { type CommandContext, withContext } from '../context.ts'

export type MailTools = Pick<CommandContext, 'db' | 'encryption' | 'queueSchema'>

/** Lets `use` work with the queue of the configured server. */
export function withMailTools(use: (tools: MailTools) => Promise<void>): Promise<void> {
  return withContext(console.error, use)
}
