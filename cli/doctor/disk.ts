/** Checks whether the log is writable, and the free space. */
import { access, constants, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'

import {
  type DoctorContext,
  type DoctorFinding,
  describeError,
  fail,
  pass,
  warn,
} from './finding.ts'

const gibibyte = 2 ** 30

export async function checkDisk({
  config,
}: Pick<DoctorContext, 'config'>): Promise<DoctorFinding[]> {
  const file = config.AUTH_LOG_FILE
  if (!file) return []
  const folder = dirname(file)
  try {
    await access(folder, constants.W_OK)
    const { bavail, bsize } = await statfs(folder)
    return [room(folder, bavail * bsize)]
  } catch (error) {
    return [
      fail(
        `The log cannot be written to ${folder} (${describeError(error)}): check AUTH_LOG_FILE.`,
      ),
    ]
  }
}

function room(folder: string, bytes: number): DoctorFinding {
  const fact = `${folder} has ${(bytes / gibibyte).toFixed(1)} GiB free for the log`
  if (bytes >= gibibyte) return pass(`${fact}.`)
  return warn(`${fact}: free some space, and rotate the log with logrotate.`)
}
