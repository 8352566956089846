/** Checks the standbys of AUTH_DB_READ_URL. */
import { createPool } from '../../plugins/database/pool/index.ts'
import { findMismatch, readServerState } from '../../plugins/database/read-db/server-state.ts'
import { type DoctorContext, type DoctorFinding, describeError, pass, warn } from './finding.ts'

/** A standby that cannot be used does not fail the check: reads go to the primary. */
export async function checkReplicas({ config }: DoctorContext): Promise<DoctorFinding[]> {
  const { DATABASE_URL, AUTH_DB_READ_URL: urls } = config
  return Promise.all(
    urls.map(async (url, index) => {
      const name = `Standby ${index + 1} of AUTH_DB_READ_URL`
      const problem = await findProblem(DATABASE_URL, url)
      return problem === undefined
        ? pass(`${name} is a copy of the primary.`)
        : warn(`${name} is not used, reads go to the primary: ${problem}.`)
    }),
  )
}

async function findProblem(primary: string, replica: string): Promise<string | undefined> {
  const pools = [primary, replica].map((connectionString) =>
    createPool({ connectionString, max: 1, connectTimeoutMs: 3_000, log: { warn() {} } }),
  )
  try {
    const [ofPrimary, ofReplica] = await Promise.all(pools.map(readServerState))
    return ofPrimary && ofReplica && findMismatch(ofPrimary, ofReplica)
  } catch (error) {
    return describeError(error)
  } finally {
    await Promise.all(pools.map((pool) => pool.end()))
  }
}
