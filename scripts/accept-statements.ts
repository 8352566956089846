/**
 * `npm run statements`, after `npm test`: writes the statements of the last run to test/plans/statements. After a run of
 * a part of the tests it adds its statements and keeps the others.
 */
import {
  joinSnapshots,
  makeSnapshot,
  readSnapshot,
  writeSnapshot,
} from '../test/support/plans/snapshot.ts'
import { loadRun } from '../test/support/plans/statement-cache.ts'

const { isComplete, texts } = loadRun()
const recorded = makeSnapshot(texts)
writeSnapshot(isComplete ? recorded : joinSnapshots(readSnapshot(), recorded))
