/** Where the log is written: whether it can be, and for how long. */
import { access, constants, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'

import { type Finding, fail, pass, reasonOf, type Surroundings, warn } from './finding.ts'

const gibibyte = 2 ** 30

export async function disk({ config }: Pick<Surroundings, 'config'>): Promise<Finding[]> {
  const file = config.AUTH_LOG_FILE
  if (!file) return []
  const folder = dirname(file)
  try {
    await access(folder, constants.W_OK)
    const { bavail, bsize } = await statfs(folder)
    return [room(folder, bavail * bsize)]
  } catch (error) {
    return [
      fail(`The log cannot be written to ${folder} (${reasonOf(error)}): look at AUTH_LOG_FILE.`),
    ]
  }
}

function room(folder: string, bytes: number): Finding {
  const fact = `${folder} has ${(bytes / gibibyte).toFixed(1)} GiB left for the log`
  if (bytes >= gibibyte) return pass(`${fact}.`)
  return warn(`${fact}: make room, and let logrotate move it away.`)
}
