/** Checks that the metadata of each identity provider has not expired. */
import { describeExpiredMetadata } from '../shared/expired-metadata.ts'
import { type DoctorContext, type DoctorFinding, fail } from './finding.ts'

export async function checkSaml(context: DoctorContext): Promise<DoctorFinding[]> {
  // Before the first start, or when the database is unavailable, which has a separate check.
  const expired = await describeExpiredMetadata(context, context.now).catch(() => [])
  return expired.map(fail)
}
