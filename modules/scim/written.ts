import { isUniqueViolation } from '../../db/core/unique-violation.ts'
import { uniqueness } from './accounts.ts'

/** Throws uniqueness for a name or an externalId that another resource of the connection has. */
export async function rejectingTaken(write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    const taken = error.constraint?.includes('external_id') ? 'externalId' : 'name'
    throw uniqueness(`Another resource of this connection has this ${taken}`)
  }
}
