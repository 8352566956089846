import { isUniqueViolation } from '../../db/core/errors.ts'
import { uniqueness } from './accounts.ts'

export const nameIdTaken = 'Another account signs in at the provider with this userName'

/** Throws uniqueness with the sentence when the write fails with a unique violation. */
export async function rejectIfTaken<T>(taken: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw uniqueness(taken)
  }
}
