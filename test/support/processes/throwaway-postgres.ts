/** The Postgres of one test run: fast instead of durable, in the system’s temporary folder. */
import {
  chmodSync,
  existsSync,
  globSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { binaries } from '../../../dev/postgres/binaries.ts'
import { stopOrphan } from '../../../dev/postgres/cluster.ts'
import { openFolder } from '../../../dev/postgres/folder.ts'
import { lockHolder, type RunningPostgres, startPostgres } from '../../../dev/postgres/index.ts'

/** Copying a database in memory takes a tenth of the time, if there is enough of it. */
const memory = '/dev/shm'
const neededBytes = 6 * 1024 ** 3
const name = 'postern-test-'

const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '2GB',
  checkpoint_timeout: '1h',
  autovacuum: 'off',
  jit: 'off',
  update_process_title: 'off',
  max_parallel_workers_per_gather: '0',
  max_connections: '300',
}

interface Special {
  settings?: Record<string, string>
  /** Lines of pg_hba.conf. */
  access?: string[]
}

const openAccess = ['host all all 127.0.0.1/32 trust']

export async function startThrowawayPostgres({
  settings: special = {},
  access = openAccess,
}: Special = {}): Promise<RunningPostgres> {
  await removeAbandoned()
  const home = mkdtempSync(join(hasRoom(memory) ? memory : tmpdir(), name))
  // As root, Postgres runs as another user and needs access.
  chmodSync(home, 0o711)
  const dir = join(home, 'postgres')
  try {
    // Thousands of connections are opened, and verifying a password costs as much as the rest of it.
    const hba = join(home, 'pg_hba.conf')
    writeFileSync(hba, `${access.join('\n')}\n`, { mode: 0o644 })
    const postgres = await startPostgres({
      dir,
      settings: { ...settings, ...special, hba_file: hba },
      log: { info: () => {} },
    })
    return { ...postgres, stop: () => postgres.stop().finally(() => remove(home)) }
  } catch (error) {
    remove(home)
    throw error
  }
}

/** What killed runs have left: their Postgres may still be running. */
async function removeAbandoned(): Promise<void> {
  const locks = [memory, tmpdir()].map((folder) => join(folder, `${name}*/postgres/lock`))
  for (const lock of globSync(locks)) {
    if (lockHolder(lock) !== undefined) continue
    const folder = openFolder(join(lock, '..'))
    await stopOrphan({ folder, bin: binaries(folder.account) })
    remove(join(folder.path, '..'))
  }
}

function hasRoom(folder: string): boolean {
  if (!existsSync(folder)) return false
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize > neededBytes
}

function remove(home: string): void {
  // The data may be in another folder, linked (dev/postgres/folder.ts).
  for (const path of globSync(join(home, 'postgres'))) {
    rmSync(realpathSync(path), { recursive: true, force: true })
  }
  rmSync(home, { recursive: true, force: true })
}
