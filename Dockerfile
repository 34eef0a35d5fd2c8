FROM python:3.11-slim AS build
WORKDIR /build
# Everything that is installed is named with its hash: requirements/*.txt, made by `make lock`.
COPY requirements/image.txt requirements/build.txt requirements/styles.txt requirements/
RUN python -m venv --without-pip /opt/carrel \
 && pip --disable-pip-version-check --python /opt/carrel/bin/python install --no-cache-dir --require-hashes -r requirements/image.txt \
 && python -m venv --without-pip /opt/build \
 && pip --disable-pip-version-check --python /opt/build/bin/python install --no-cache-dir --require-hashes -r requirements/build.txt \
 && pip --disable-pip-version-check --python /opt/build/bin/python install --no-cache-dir --no-deps --require-hashes -r requirements/styles.txt
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY src src
RUN /opt/build/bin/python -m hatchling build -t wheel -d dist \
 && pip --disable-pip-version-check --python /opt/carrel/bin/python install --no-cache-dir --no-index --no-deps dist/carrel-*.whl

FROM python:3.11-slim
RUN useradd --system --uid 10001 --home-dir /data --create-home carrel
COPY --from=build /opt/carrel /opt/carrel
ENV PATH=/opt/carrel/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    CARREL_HOME=/data \
    CARREL_SERVER_HOST=0.0.0.0 \
    CARREL_AUTH_MODE=builtin
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=3s --start-period=10s \
  CMD ["python", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + (os.environ.get('CARREL_SERVER_PORT') or os.environ.get('PORT') or '8080') + '/health', timeout=2)"]
ENTRYPOINT ["carrel"]
CMD ["serve"]
