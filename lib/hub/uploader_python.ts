/**
 * The program that uploads a checkpoint from where it lies. It runs under Python 3.8 or newer with any
 * `huggingface_hub` since 0.20, takes its orders from `TIAS_UPLOAD` (JSON) and its token from the file that
 * `HF_TOKEN_PATH` names, and ends with one line of JSON behind `TIAS_UPLOAD_RESULT`. Every attempt looks first what is
 * there, so an answer that was lost does no harm, and everything goes into one commit on top of what was looked at.
 */
export const uploaderPython = String.raw`
import hashlib, json, os, sys, time

os.environ.update(
    HF_HUB_DISABLE_XET="1", HF_HUB_DISABLE_TELEMETRY="1", HF_HUB_DISABLE_PROGRESS_BARS="1",
    HF_HUB_DISABLE_IMPLICIT_TOKEN="1", HF_HUB_DISABLE_UPDATE_CHECK="1",
)
for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
    os.environ.pop(name, None)


class Stop(Exception):
    def __init__(self, outcome, detail="", paths=()):
        Exception.__init__(self, outcome)
        self.result = {"outcome": outcome, "detail": detail, "paths": list(paths)[:20]}


def local_files(folder, exclude):
    found = {}
    for root, folders, names in os.walk(folder):
        if root == folder:
            folders[:] = [name for name in folders if name not in exclude]
            names = [name for name in names if name not in exclude]
        for name in folders + names:
            path = os.path.join(root, name)
            if os.path.islink(path):
                raise Stop("link", paths=[os.path.relpath(path, folder)])
        for name in names:
            path = os.path.join(root, name)
            found[os.path.relpath(path, folder).replace(os.sep, "/")] = path
    if not found:
        raise Stop("empty")
    return found


class Local:
    """A file here, hashed once and only when it is needed."""

    def __init__(self, path):
        self.path, self.size, self.hashes = path, os.path.getsize(path), None

    def same(self, there):
        if there["size"] != self.size:
            return False
        if self.hashes is None:
            sha256, git = hashlib.sha256(), hashlib.sha1(b"blob %d\0" % self.size)
            with open(self.path, "rb") as file:
                for block in iter(lambda: file.read(1 << 20), b""):
                    sha256.update(block)
                    git.update(block)
            self.hashes = sha256.hexdigest(), git.hexdigest()
        if there["sha256"] is not None:
            return there["sha256"] == self.hashes[0]
        return there["oid"] == self.hashes[1]


def chain(error):
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def status_of(error):
    for each in chain(error):
        status = getattr(getattr(each, "response", None), "status_code", None)
        if status is not None:
            return status
    return None


def is_missing(error, code):
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    return status_of(error) in (401, 404) and headers.get("X-Error-Code") == code


def files_there(api, order, revision):
    prefix, found = order["folder"] + "/", {}
    try:
        for entry in api.list_repo_tree(
            order["repo"], path_in_repo=order["folder"], recursive=True, revision=revision
        ):
            if not hasattr(entry, "blob_id"):
                continue
            lfs = entry.lfs
            sha256 = None if lfs is None else lfs["sha256"] if isinstance(lfs, dict) else lfs.sha256
            found[entry.path[len(prefix):]] = {"size": entry.size, "oid": entry.blob_id, "sha256": sha256}
    except Exception as error:
        if not is_missing(error, "EntryNotFound"):
            raise
    return found


def info_of(api, order):
    info = api.repo_info(order["repo"])
    if info.private is not True:
        raise Stop("not_private")
    return info


def repository(api, order):
    try:
        return info_of(api, order)
    except Exception as error:
        if not is_missing(error, "RepoNotFound"):
            raise
    api.create_repo(order["repo"], private=True, exist_ok=True)
    return info_of(api, order)


def compare(files, there, complete):
    wrong = sorted(path for path in there if path not in files or not files[path].same(there[path]))
    if wrong:
        raise Stop("different", paths=wrong)
    missing = sorted(path for path in files if path not in there)
    if complete and missing:
        raise Stop("incomplete", paths=missing)
    return missing


def upload(api, order, files):
    from huggingface_hub import CommitOperationAdd

    info = repository(api, order)
    commit, outcome = info.sha, "already_there"
    missing = compare(files, files_there(api, order, commit), False)
    if missing:
        operations = [
            CommitOperationAdd(path_in_repo=order["folder"] + "/" + path, path_or_fileobj=files[path].path)
            for path in missing
        ]
        commit, outcome = api.create_commit(
            order["repo"], operations, commit_message="Add " + order["folder"], parent_commit=commit
        ).oid, "uploaded"
        info_of(api, order)
    there = files_there(api, order, commit)
    compare(files, there, True)
    # The last line of a log is read from its tail, so it must not grow without bounds.
    listed = [dict(path=path, **there[path]) for path in sorted(there)] if len(there) <= 500 else []
    return {"outcome": outcome, "commit": commit, "count": len(there), "files": listed}


def main():
    order = json.loads(os.environ["TIAS_UPLOAD"])
    end = time.monotonic() + order["seconds"]
    token = ""
    try:
        with open(os.environ["HF_TOKEN_PATH"]) as file:
            token = file.read().strip()
        if not token:
            raise Stop("no_token")
        try:
            from huggingface_hub import HfApi
        except ImportError as error:
            raise Stop("no_library", str(error))
        files = {path: Local(here) for path, here in local_files(order["checkpoint"], order["exclude"]).items()}
        api, attempt = HfApi(token=token), 0
        while True:
            attempt += 1
            try:
                return upload(api, order, files)
            except Stop as stop:
                # A commit that lacks files is finished by the next attempt.
                if stop.result["outcome"] != "incomplete" or attempt >= order["attempts"]:
                    raise
                error = stop
            except Exception as caught:
                error = caught
                text = "; ".join("%s: %s" % (type(each).__name__, each) for each in chain(error))
                if "storage limit" in text.lower():
                    raise Stop("storage_full", text)
                if status_of(error) in (401, 402, 403):
                    raise Stop("refused", text)
                pause = min(60, order["pause"] * 2 ** (attempt - 1))
                if attempt >= order["attempts"] or time.monotonic() + pause > end:
                    raise Stop("failed", text)
            print("attempt %d: %s" % (attempt, str(error).replace(token, "***")[:500]), file=sys.stderr, flush=True)
            time.sleep(min(60, order["pause"] * 2 ** (attempt - 1)))
    except Stop as stop:
        result = stop.result
    except Exception as error:
        result = {"outcome": "failed", "detail": "%s: %s" % (type(error).__name__, error)}
    if "detail" in result and token:
        result["detail"] = " ".join(result["detail"].replace(token, "***").split())[:500]
    return result


result = main()
print("TIAS_UPLOAD_RESULT " + json.dumps(result), flush=True)
sys.exit(0 if result["outcome"] in ("uploaded", "already_there") else 1)
`;
